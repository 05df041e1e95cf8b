"""Closed lists of English words that are capitalised and yet no names, and of what goes into names. All
folded.

General English of the eighteenth to twentieth century: nothing here comes from any one book.
"""

from __future__ import annotations

import re

ROMAN = re.compile(r"^(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$")
"""A folded roman numeral."""

FUNCTION_WORDS: frozenset[str] = frozenset(
    """
    a an the this that these those such same other another each every either neither both all any some no none
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its
    itself
    we us our ours ourselves they them their theirs themselves thou thee thy thine thyself ye one ones
    whereat whereby wherein whereof whereon whereupon wherewith howsoever whatsoever
    whosoever insomuch inasmuch albeit thereat therewith thereby
    who whom whose which what whoever whatever whichever where when why how whence whither wherever whenever
    however
    and or but nor for yet so if unless although though because since while whilst until till than whether
    lest
    as at by in into on onto of off from to towards toward upon with within without about above across after
    against
    along amid among amongst around before behind below beneath beside besides between beyond concerning
    despite down
    during except inside instead like near notwithstanding out outside over past round through throughout
    under
    underneath unto up via
    is am are was were be been being do does did doing done has have had having can could may might must shall
    should
    will would ought need dare let art hast hath dost doth didst wast wert shalt wilt
    not never ever always often sometimes seldom again already also almost altogether away back even far here
    hence
    hereafter hither indeed just meanwhile merely moreover much more most nay nevertheless now nowhere once
    only
    otherwise perhaps possibly presently quite rather really soon still suddenly then thence there therefore
    thereupon
    therein thereafter thither thus today to-day tomorrow to-morrow to-night tonight together too twice very
    well
    yesterday anyhow somehow somewhat so-and-so anyway accordingly afterwards certainly consequently finally
    formerly likewise namely nothing something
    anything everything nobody somebody anybody everybody someone anyone everyone somewhere anywhere
    everywhere
    few fewer many several less least little enough first second third last next two three four five six seven
    eight
    nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty
    fifty
    sixty seventy eighty ninety hundred thousand million dozen wait maybe
    according considering supposing suppose seeing being having going come came go went say said says tell
    told
    think thought know knew see saw look looked hear heard give gave take took make made get got put keep kept
    tis twas twill twere twould tisn't em cause
    exeunt exit enter re-enter
    leave left ask asked believe pray please thank thanks thanking excuse forgive pardon remember
    """.split()
)
"""Never part of a name at its edge, however they are written."""

NAMES_TOO: frozenset[str] = frozenset("may will".split())
"""Function words that are first names as well: names where they stand inside a sentence with a capital."""

INTERJECTIONS: frozenset[str] = frozenset(
    """
    o avast belay hark oh ah aha ahem alas amen aye ay bah begone behold bless bravo bosh brr confound curse
    damn damme dear egad eh
    encore faith farewell fie fiddlesticks fudge gad gee goodbye good-bye goodby good-by goodness gracious
    ha hah hallo halloa haw heaven heavens heigh heigh-ho heigho hello hem hey hi hip hist ho hoity-toity
    holloa hollo
    hooray hoorah huh hullo hulloa hum humph hurrah hurra hurray hush huzza indeed la lack lackaday law lawks
    lo
    lor lord's marry mercy mum nay no nonsense nope off och oho oh-ho ooh ouch ow peace phew pish pooh presto
    pshaw
    quick rubbish rot say-yes sh ship-ahoy ahoy silence so soho stay stop stuff tush tut tut-tut ugh um vive
    wal
    well well-a-day welcome what whew whist whoa woe why yah yea yep yes yonder zounds begad sdeath adieu
    adios bonjour bon-jour bonsoir monsieur-le
    """.split()
)

CALENDAR: frozenset[str] = frozenset(
    """
    january february march april may june july august september october november december
    jan feb apr aug sept sep oct nov dec
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
    saturdays
    sundays sabbath christmas christmastide xmas yule easter eastertide michaelmas whitsuntide whitsun
    whitsunday
    candlemas lammas martinmas pentecost advent lent epiphany twelfth-night midsummer new-year
    """.split()
)
AMBIGUOUS_CALENDAR: frozenset[str] = frozenset("april august june may march advent easter".split())
"""Months that people also bear as names: dropped alone only where the book does not use them with a title or
a name."""

DEITY: frozenset[str] = frozenset(
    """
    god gods god-almighty almighty lord creator maker saviour savior redeemer providence christ jesus jehovah
    heaven heavens hell paradise deity godhead trinity messiah holy ghost omnipotent scripture scriptures
    bible gospel
    testament koran psalms psalm fate fortune nature satan lucifer beelzebub devil allah jove
    """.split()
)

DEMONYMS: frozenset[str] = frozenset(
    """
    english british scotch scottish scots welsh irish french german dutch flemish belgian swiss austrian
    hungarian
    bohemian polish russian prussian saxon bavarian danish swedish norwegian norse icelandic finnish lapp
    spanish
    portuguese italian roman venetian florentine genoese neapolitan sicilian tuscan milanese lombard greek
    grecian turkish
    arab arabian arabic persian indian hindoo hindu hindustani chinese japanese siamese malay tartar tatar
    mongol
    egyptian ethiopian abyssinian moorish african american mexican peruvian brazilian chilian canadian
    australian
    tasmanian polynesian european asiatic asian oriental occidental levantine jewish hebrew israelite semitic
    christian protestant catholic papist puritan presbyterian methodist wesleyan baptist quaker calvinist
    lutheran
    anglican unitarian jesuit mahometan mohammedan mussulman moslem muslim buddhist brahmin parsee pagan
    gentile
    anglo-saxon norman celtic gaelic teutonic gothic latin sanscrit sanskrit slav slavonic slavic cossack
    gipsy gypsy
    creole yankee georgian victorian elizabethan jacobite whig tory whigs tories liberal radical conservative
    republican democrat democratic cartesian platonic socratic homeric parisian londoner viennese bourbon
    corinthian spartan athenian trojan babylonian chaldean assyrian phoenician carthaginian macedonian
    thracian
    jew jewess turk tartar pole dane swede finn lett kelt celt negro negress negroes blackamoor spaniard scot
    briton gaul goth hun
    moor slovak croat magyar saracen teuton yorkshireman yorkshiremen lancashireman welshwoman
    syrian turkish ottoman romish patagonian javan tahitian bolivian cretan scandinavian genevese genevan algerine cuban
    sicilian tyrolese muhammadan mohammedan catholic hanoverian batavian new-yorker
    roman-catholic anglo-indian cockney west-indian east-indian
    serbian bulgarian roumanian rumanian romanian cornish devonian manx kentish highland lowland highlander
    frenchman frenchmen frenchwoman frenchwomen englishman englishmen englishwoman englishwomen irishman
    irishmen
    irishwoman scotchman scotchmen scotsman scotsmen scotchwoman welshman welshmen dutchman dutchmen
    dutchwoman
    norseman norsemen cornishman cornishmen nantucketer highlanders
    """.split()
)
"""Nationalities, creeds, parties and languages; plurals in -s are added where they are looked up."""

DEMONYMS_BORNE: frozenset[str] = frozenset("norman christian roman german dane".split())
"""Of these, first names too."""

COMPASS: frozenset[str] = frozenset(
    "north south east west northern southern eastern western north-east north-west south-east south-west "
    "northerly southerly easterly westerly orient occident continent equator tropic tropics arctic antarctic".split()
)

STYLES: frozenset[str] = frozenset(
    "majesty majesties highness highnesses excellency excellencies lordship lordships ladyship ladyships honour "
    "honor grace worship eminence holiness reverence serenity mightiness".split()
)
"""Forms of address that follow 'your', 'his' or 'her'."""

STYLES_BORNE: frozenset[str] = frozenset("honour honor grace worship reverence".split())
"""Of these, words that names are made of too."""

RANKS: frozenset[str] = frozenset(
    "archbishop archdeacon cardinal pope dean abbot abbess prior chancellor emperor empress czar tsar sultan shah khan "
    "kaiser archduke archduchess marchioness viscountess dauphin infanta elector landgrave margrave knight sheriff mayor "
    "minister secretary master head lord lords house bank church order battle treaty university college court university "
    "republic kingdom empire state states duchy port rock vale mouth feast tree garden land line office society school "
    "bar board".split()
)
"""Words beside the titles that take 'of' and a name: 'the Archbishop of York', 'the Bank of England'."""

GENERIC: frozenset[str] = frozenset(
    "man woman men women boy girl boys girls lady gentleman child children people person persons fellow lad lass thing creature youth maiden mankind "
    "humanity womanhood manhood stranger visitor guest narrator reader author editor".split()
)
"""What anybody may be called: never a name alone, though capitals may be put on it."""

BARE_ADDRESSES: frozenset[str] = frozenset(
    "papa mamma mama mammy mummy dad daddy pa ma aunty auntie granny grandma grandpa grandmamma grandpapa grandfather "
    "grandmother sis sonny nurse cook massa marse senor senora senorita monseigneur monsignor milord milady sahib "
    "ma'am m'am sirs gentlemen ladies excellence friend friends son daughter child cousin "
    "co sons bros esq ltd inc messrs ibid viz ps nb mss etc vol chap".split()
)
"""What people are called, and what stands beside a name, without being one."""

TITLES_BORNE_AS_SURNAMES: frozenset[str] = frozenset(
    "king prince bishop major duke earl baron judge abbe lord".split()
)
"""'Miss King' is somebody, 'Mr. President' an address."""
PARTICLES: frozenset[str] = frozenset(
    "de du des del della delle di da dos das van von der den ter ten zu la le los las el y e et en "
    "d' l' al ben bin ibn ap af av".split()
)
"""Lower-case words inside names that always bind."""

LEADING_PARTICLES: frozenset[str] = frozenset("van von der den de du di".split())
"""Of these, those with which a name may begin: 'van der Berg', 'de Winter'."""

PLACE_HEADS: frozenset[str] = frozenset(
    """
    street road lane square terrace crescent avenue alley mews quay wharf strand boulevard
    inn hotel tavern lodge cottage manor grange priory abbey rectory vicarage parsonage palace castle tower
    mansion
    island islands isle isles ocean sea straits strait channel gulf bay cape peninsula lake river falls creek
    mountain mountains hills valley desert forest prairie plain plains
    county shire parish city town village settlement province district territory
    station bridge ferry harbour harbor docks dock college university school hospital asylum theatre theater
    museum exchange library cathedral chapel church cemetery churchyard prison gaol jail barracks arsenal fort
    house hall court park farm gardens garden wood woods heath moor common green field fields hill mount gate
    row place
    """.split()
)
SURNAME_HEADS: frozenset[str] = frozenset(
    """
    lodge tower castle bay lake rivers bridge church hall court park farm garden gardens wood
    woods heath
    moor common green field fields hill hills mount gate row place house chapel forest grange abbey strand
    cape
    """.split()
)
"""Heads of place names that people also bear as surnames: the model decides."""

PLACE_LEADS: frozenset[str] = frozenset(
    "mount mt cape lake port fort isle river point loch glen castle hotel villa chateau rue monte".split()
)
"""First words that make what follows a place ('Cape Horn'), unless a title stands before."""
