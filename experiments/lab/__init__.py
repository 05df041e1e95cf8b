"""The lab: studies that any reader can run on the model they bring. `python -m experiments.lab --help`."""
