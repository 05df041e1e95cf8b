"""Given names: which there are, what they say of gender, and which are forms of one another.

The variants come from the `nicknames` package. It has no genders, so those of the commonest English, French, German,
Italian and Scottish given names of nineteenth-century fiction stand here; names borne by both are left out.
"""

from __future__ import annotations

import re
from functools import cache

_FEMALE = """
ada adela adelaide adele adeline agatha agnes alexandra alexandrine alice alicia alison alma althea amabel amanda amelia amy
anastasia angela angelica angelina angeline anita ann anna annabel annabella anne annette annie antoinette arabella araminta
athenaida augusta aurelia aurora barbara bathsheba beatrice becky belinda bella bertha bess bessie bessy beth betsey betsy
betty biddy blanche brenda bridget camilla carlotta caroline cassandra catharine catherine cathy cecilia cecily celestine
celia charity charlotte chloe christabel christiana christina cicely clara clare clarissa claudia clementina clementine clotilde
constance consuelo cora cordelia cornelia cosette cynthia daisy deborah delia desdemona diana dinah dolly dora dorcas dorothea
dorothy edith effie eleanor eleanora elena elinor elisabeth elise eliza elizabeth ella ellen ellie elsie elspeth elvira em emilia
emily emma emmeline enid esmeralda estella esther ethel etta eugenia eugenie eulalie eunice euphemia eva evangeline evelina
evie fanny fantine fatima felicia felicity fidelia flora florence frances francesca freda frederica gabriella genevieve georgiana
georgina geraldine gertrude gladys grace grizel gudrun gwendolen gwendolyn hannah harriet harriett harriot hatty hebe helen
helena helene helga henrietta henriette hephzibah hermia hermione hester hetty hilda honor honora honoria hortense ida imogen inez irene
irma isabel isabella isobel ivy jane janet jean jeanne jeannie jemima jenny jessica jessie joan joanna josephine judith
julia juliana juliet julietta justine kate katharine katherine kathleen katie katrina katy kitty laetitia laura lavinia leah lena
leonora letitia letty lettice lily lilian lilias lillian linda lisa lisbeth lizzie lizzy lois lola lottie lotty louisa louise lucetta lucia
lucie lucilla lucinda lucretia lucy lydia mabel madeleine madge magdalen maggie maisie manon marcella margaret margery margherita
marguerite maria marian marianne marie marietta marina marion marjorie marjory marilla martha mary mathilde matilda maud maude
may meg melissa mercy meta mildred millicent millie milly mina minna minnie miranda miriam moll molly monica muriel myra myrtle nan
nancy nannie naomi natalie natasha nell nelly nerissa netty nettie nina nora norah octavia olga olive olivia ophelia pamela
patience patty paulina pauline peggy penelope perdita phebe philippa phoebe phyllis polly portia priscilla prudence
rachel rebecca regan rhoda rosa rosabella rosalie rosalind rosamond rosamund rose rosie rosina rosy rowena ruby ruth sabina
sally salome sappho sara sarah selina seraphina sibyl sibylla silvia sonia sophia sophie sophronia stella sue susan susanna susannah susie
sybil sylvia tabitha teresa tess thea theodora theresa therese thomasin tilda tilly titania trix trixy una ursula
valeria venetia vera veronica victoria victorine viola violet virginia vivien wilhelmina winifred yolande zelda zenobia zoe
prissy diana josie beth dounia sonya avdotya katerina pulcheria nastasya
"""

_MALE = """
aaron abel abner abraham abram achille adam adolf adolphe adolphus adrian alan alaric albert alec aleck alex alexander alexandre alexis
alf alfonso alfred algernon allan allen alonzo aloysius alphonse ambrose amos amyas anatole andre andrew andy angus anselm anthony antoine
anton antonio archibald archie armand arnold arthur artemus asa august auguste augustine augustus aubrey austin barnabas barnaby
barney barney bartholomew bartle basil ben benedict benjamin bernard bertie bertram bill billy bob bobby boniface boris brian bruce cain
caleb calvin cecil cedric cesar charles charley charlie christian christopher claude claudius clement clifford clive conrad constantine cornelius
crispin cuthbert cyril cyrus dan daniel darius dave david denis dennis derick dick dickon diggory dimitri dmitri dominic donald
dorian douglas duncan dugald ebenezer ed eddie edgar edmond edmund edouard edward edwin egbert elbert eli elias elijah emanuel emil emile
emmanuel enoch ephraim erasmus eric ernest etienne eugene eustace evan ezekiel ezra fabian felix ferdinand fergus festus fitzwilliam fitzroy
francis francisco francois frank franklin franz fred freddy frederic frederick friedrich fritz gabriel gareth gaston geoffrey george
gerald gerard gideon gilbert giles giovanni giuseppe godfrey gottfried graham gregory griffith guido guillaume gustave guy hamish hamlet
hannibal hans harold harry hector heinrich henri henry herbert hercules hereward hezekiah hiram hobart horace horatio hosea howard hubert
hugh hugo humphrey ichabod ignatius immanuel isaac isaiah israel ivan ivanhoe jabez jack jacob jacques jake james jan jasper jedediah
jeffrey jem jephthah jeremiah jeremy jerome jerry jim jimmy job joe joel johann john johnny jonah jonas jonathan jonathon jose joseph
joshua josiah juan jules julian julius justin karl keith kenneth lambert lancelot larry laurence lawrence leander leo leon leonard leonardo
leopold levi lewis lionel louis lucas lucian lucien lucius ludovic ludwig luigi luke luther magnus malachi malcolm manfred manuel
marcel marcus mark marmaduke martin matt matthew maurice max maximilian melchior michael mick miguel mike miles mortimer moses
nat nathan nathaniel neal ned nehemiah neil neville nicholas nick nicolas nikolai noah noel norman obadiah octavius oliver orlando oscar
oswald otto owen paddy pablo paolo pascal pat patrick paul pedro percival percy perry peter philip phineas pierre pip quentin ralph ramon
randal randolph raoul raphael raymond reginald rene reuben richard rob robert robin roderick rodion rodney rodolphe roger roland rollo
romeo ronald rory rowland rudolf rudolph rufus rupert sam samson samuel sandy saul seth sebastian septimus sergius sholto sid sidney sigismund silas silvester
simeon simon solomon stanislas stanley stephen steve steven stewart sydney sylvester ted terence thaddeus theobald theodore theophilus
thomas thomasino tim timothy titus tobias toby tom tommy tony tristram ulysses urban uriah valentine vernon victor vincent waldemar
wallace walter wat washington wilfred wilfrid wilhelm will william willie willy winston wolfgang xavier zachariah zachary
huckleberry huck teddy quincey
"""


FEMALE = frozenset(_FEMALE.split())
MALE = frozenset(_MALE.split()) - FEMALE

_PERIOD_FORMS = (
    "huck huckleberry;pip philip;nelly ellen;nell ellen;nelly helen;polly mary;molly mary;peggy margaret;sally sarah;"
    "hal henry;harry henry;harry harold;fanny frances;hetty harriet;effie euphemia;dolly dorothy;dolly dorothea;"
    "tess theresa;jack john;ned edward;ted edward;ned edmund;dick richard;bill william;bob robert;sukey susan;"
    "kitty catherine;cathy catherine;kate catherine;katherine catherine;lotty charlotte;biddy bridget;janet jane;"
    "meg margaret;maggie margaret;jem james;minna wilhelmina;amy amelia;bessy elizabeth;nancy anne;nan anne;nanny anne;"
    "patty martha;jenny jane;betty elizabeth;bertie albert;sonya sofya;dounia avdotya;rodya rodion;mitya dmitri;"
    "katya katerina;kate katerina;alec alexander;sandy alexander;hodge roger;noll oliver;"
    "kit christopher;kit katherine;letty lettice;letty letitia;winny winifred;nat nathaniel"
)
"""Forms current in the fiction of the time, stated beside the package's modern American list."""


_FULL_IN_Y = frozenset(
    "mary lucy emily dorothy cicely rosemary henry anthony percy sidney sydney geoffrey timothy".split()
)


def gender_of(given: str) -> str | None:
    """M or F where a given name (folded) says so."""
    if given in FEMALE:
        return "F"
    if given in MALE:
        return "M"
    return None


def is_given(word: str) -> bool:
    """Whether a folded word is known as a given name, by the lists above or by the nickname list."""
    return word in FEMALE or word in MALE or _even(word) in _table()


def are_variants(a: str, b: str) -> bool:
    """Whether two given names (folded) may be one person's: the same, an initial, or tied by the list.

    Two nicknames of one full name count ('Lizzy', 'Eliza') unless the genders speak against it.
    """
    a, b = _even(a.rstrip(".")), _even(b.rstrip("."))
    if a == b or (len(a) == 1 and b.startswith(a)) or (len(b) == 1 and a.startswith(b)):
        return True
    if directly_tied(a, b):
        return True
    return (_diminutive(a) or _diminutive(b)) and bool(_full_forms(a) & _full_forms(b))


def directly_tied(a: str, b: str) -> bool:
    """Whether the list has one as a form of the other."""
    a, b = _even(a), _even(b)
    ga, gb = gender_of(a), gender_of(b)
    return b in _table().get(a, frozenset()) and (ga is None or gb is None or ga == gb)


def _even(name: str) -> str:
    """-ie, -ey and -y made equal: 'Kittie', 'Kitty'."""
    return re.sub(r"(?<=\w\w)(ie|ey)$", "y", name)


def _full_forms(name: str) -> frozenset[str]:
    """The full names of which `name` is a nickname."""
    return _canonical().get(name, frozenset())


def _cut_from(short: str, full: str) -> bool:
    """'Emily' is cut from nothing in 'Emma', nor 'Maria' from 'Mary': both are full names."""
    if short[0] != full[0] and short[:2] not in full[1:]:
        return False
    shorter = len(short) < len(full) or (len(short) == len(full) and _diminutive(short))
    return shorter or (short.endswith("y") and short.startswith(full[:-1]))


def _diminutive(name: str) -> bool:
    return name.endswith("y") and name not in _FULL_IN_Y


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    """(full form, nickname), both even.

    The package also lists ties that no period writer means ('Louisa', 'Eliza'): of its pairs those count whose short form
    begins as the full one does or is cut from within it ('Mina', 'Lizzy'); rhymed forms stand in _PERIOD_FORMS.
    """
    from nicknames import name_triplets

    listed = [(_even(t.name1), _even(t.name2)) for t in name_triplets() if t.relationship == "has_nickname"]
    cut = [(full, short) for full, short in listed if _cut_from(short, full)]
    period = [(_even(full), _even(short)) for short, full in (e.split() for e in _PERIOD_FORMS.split(";"))]
    return tuple((full, short) for full, short in cut + period if full != short)


@cache
def _table() -> dict[str, frozenset[str]]:
    tied: dict[str, set[str]] = {}
    for full, short in _pairs():
        tied.setdefault(full, set()).add(short)
        tied.setdefault(short, set()).add(full)
    return {name: frozenset(others) for name, others in tied.items()}


@cache
def _canonical() -> dict[str, frozenset[str]]:
    full_of: dict[str, set[str]] = {}
    for full, short in _pairs():
        full_of.setdefault(short, set()).add(full)
    return {short: frozenset(full) for short, full in full_of.items()}
