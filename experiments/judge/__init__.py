"""A second model reads each relation against its passage, once it has shown on relations read by hand that it can."""
