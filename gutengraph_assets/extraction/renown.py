"""Whom every reader knows from elsewhere: gods, patriarchs and apostles, poets, painters, composers, kings and generals.

Books refer to them far more often than they let them act. The list is general knowledge and closes nothing out: somebody of
such a name who is seen to speak and act in a book is of its cast like anybody else.
"""

from __future__ import annotations

from gutengraph_assets.extraction.aliases.person_name import PersonName

ALONE: frozenset[str] = frozenset(
    """
    zeus jupiter juno jove minerva athena athene apollo venus aphrodite mercury neptune poseidon pluto vulcan
    bacchus saturn cupid eros psyche hercules perseus theseus orpheus eurydice prometheus pandora phaethon
    persephone proserpine ceres atlas achilles ajax agamemnon menelaus ulysses odysseus priam hecuba aeneas
    dido oedipus antigone electra orestes medea icarus daedalus narcissus adonis pan silenus medusa andromeda
    europa io danae niobe tantalus sisyphus ixion charon cerberus morpheus pomona thor odin woden freya loki
    baldur osiris brahma vishnu siva vishnoo krishna buddha confucius mahomet mohammed zoroaster adam cain
    noah abraham ishmael delilah goliath absalom solomon elijah jonah belshazzar nebuchadnezzar pharaoh herod
    pilate judas lazarus barabbas ananias methuselah nimrod jezebel homer hesiod sappho aeschylus sophocles
    euripides aristophanes herodotus thucydides plutarch aesop pindar socrates plato aristotle epicurus
    diogenes pythagoras euclid archimedes hippocrates galen ptolemy ovid juvenal lucretius cicero seneca
    tacitus livy pliny caesar pompey brutus cassius cleopatra nero caligula trajan hadrian justinian hannibal
    scipio attila charlemagne dante petrarch boccaccio ariosto tasso machiavelli cervantes quixote camoens
    rabelais montaigne moliere racine corneille pascal descartes voltaire rousseau diderot balzac hugo zola
    flaubert goethe schiller heine kant hegel spinoza leibnitz leibniz luther calvin erasmus chaucer spenser
    shakespeare shakspeare bacon jonson milton bunyan dryden pope swift addison defoe fielding sterne
    goldsmith cowper burns byron shelley keats wordsworth coleridge tennyson browning dickens thackeray
    carlyle ruskin macaulay hamlet macbeth othello iago desdemona falstaff romeo juliet lear prospero caliban
    ariel shylock faust mephistopheles crusoe gulliver giotto cimabue botticelli michelangelo raphael titian
    tintoretto veronese correggio guido rembrandt rubens vandyke holbein durer velasquez murillo hogarth
    gainsborough baedeker cellini canova phidias bach handel haydn mozart beethoven schubert schumann
    mendelssohn chopin liszt wagner rossini verdi paganini copernicus galileo kepler newton darwin linnaeus
    buffon cuvier humboldt columbus cortez pizarro magellan napoleon buonaparte bonaparte wellington nelson
    cromwell marlborough blucher lafayette robespierre danton marat mirabeau garibaldi cagliostro casanova
    """.split()
)
"""Folded, as single names."""

FULL: frozenset[str] = frozenset(
    " ".join(entry.split())
    for entry in """
    davy jones;robin hood;captain kidd;william kidd;john bull;jack ketch;guy fawkes;joan of arc;oliver cromwell;mother hubbard;
    cock robin;tom thumb;jack sheppard;dick turpin;don juan;don quixote;sancho panza;julius caesar;mark antony;marcus aurelius;
    isaac newton;isaac watts;john wesley;martin luther;francis bacon;walter raleigh;francis drake;horatio nelson;benjamin franklin;
    george washington;abraham lincoln;daniel webster;noah webster;walter scott;robert burns;george eliot;george sand;jane austen;charles
    dickens;doctor johnson;samuel johnson;victor hugo;virgin mary;holy virgin;pontius pilate;judas iscariot;mary magdalen;mary magdalene;
    mrs grundy;mrs harris;lord byron;lord nelson;lord tennyson;dr johnson;mr gladstone;mr disraeli;mr pickwick;admiral nelson;
    robinson crusoe;robin crusoe;ali baba;joe miller;guy of warwick;william the conqueror;lady macbeth;santa claus;old nick;old harry
    """.split(";")
)
"""Names of several words, folded, with their titles as they are mostly written."""

_CROWNED = frozenset("king queen emperor empress pope czar tsar saint".split())
_SAINTS = frozenset("st ste saint".split())


def is_renowned(name: PersonName, folded: str) -> bool:
    """Whether a name is borne by somebody known from elsewhere, or by a crowned head or saint without a surname.
    `folded`: its `names.key`.
    """
    if folded in FULL or " ".join((*name.titles, *name.rest)) in FULL:
        return True
    if name.single and (folded in ALONE or (len(name.titles) == 1 and name.titles[0] in _CROWNED)):
        return True
    words = folded.split(" ")
    return len(words) == 2 and words[0] in _SAINTS
