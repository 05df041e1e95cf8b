"""The themes and atmospheres that a work of fiction may be said to have, each in a sentence that its passages resemble."""

from __future__ import annotations

import hashlib
import json

from gutengraph_core.graph.schema import NotionLabel

THEMES: dict[str, str] = {
    "love": "A passage about falling in love, courtship and a lover's declaration of his feelings.",
    "marriage": "A passage about marriage, a proposal, an engagement, and who shall marry whom.",
    "family": "A passage about family ties, parents and children, brothers and sisters at home.",
    "friendship": "A passage about friendship, loyalty between friends and companions.",
    "social class": "A passage about social class, rank, good breeding and inferior connections.",
    "money and inheritance": "A passage about money, fortune, debts, an inheritance and a will.",
    "death and mourning": "A passage about death, a dying person, grief, mourning and burial.",
    "revenge": "A passage about revenge, vengeance sworn against an enemy, hatred that pursues.",
    "guilt and remorse": "A passage about guilt, remorse and a tormented conscience.",
    "crime and detection": "A passage about a crime, a murder or theft, clues, and the detective who solves it.",
    "justice and law": "A passage about a trial, judges, lawyers, prison and punishment.",
    "the sea": "A passage about the sea, a ship and her sailors, sails, storms and voyages.",
    "the hunt": "A passage about hunting an animal, the chase and the kill.",
    "adventure": "A passage about adventure, a dangerous journey, an island, pirates and buried treasure.",
    "nature": "A passage about nature, mountains, lakes, woods and the beauty of the landscape.",
    "science": "A passage about science, experiments, study and the pursuit of knowledge.",
    "creation and monstrosity": "A passage about a creature made by man, a monster, the making of life.",
    "solitude": "A passage about loneliness, solitude and being cast out from society.",
    "religion": "A passage about God, prayer, the church, sin and salvation.",
    "fate": "A passage about fate, omens, prophecy and a doom foretold.",
    "madness": "A passage about madness, insanity and a mind that breaks down.",
    "childhood": "A passage about childhood, boys at play, school and growing up.",
    "education": "A passage about teachers, lessons, books and learning.",
    "war": "A passage about war, soldiers, a battle and its wounded.",
    "revolution": "A passage about revolution, the people rising, oppression and freedom.",
    "slavery and race": "A passage about slaves, masters, race and peoples of other colours.",
    "travel": "A passage about travelling by coach, train or on foot through foreign countries.",
    "illness": "A passage about illness, fever, a doctor at the bedside.",
    "the supernatural": "A passage about ghosts, spirits, witchcraft and supernatural terrors.",
    "art and beauty": "A passage about art, painting, music and beauty.",
    "pride and vanity": "A passage about pride, vanity, a false first impression and humiliation.",
    "deception": "A passage about deception, a disguise, a false identity and a secret discovered.",
    "betrayal": "A passage about betrayal, treachery and mutiny.",
    "ambition": "A passage about ambition, the desire for glory and power.",
    "poverty": "A passage about poverty, hunger, beggars and wretched lodgings.",
    "work and trade": "A passage about work, a trade, shops, business and wages.",
    "politics": "A passage about politics, kings, parliament and government.",
    "society and manners": "A passage about balls, visits, dinners, polite conversation and manners.",
    "gossip and reputation": "A passage about gossip, scandal and a lady's reputation.",
    "good and evil": "A passage about good and evil, temptation and wickedness.",
}

ATMOSPHERES: dict[str, str] = {
    "gloomy": "A dark, gloomy, oppressive scene, with cold, shadows and despair.",
    "melancholy": "A sad, tender, melancholy scene of tears, farewell and regret.",
    "tense": "A tense, breathless scene of danger, in which something terrible is about to happen.",
    "mysterious": "A mysterious, puzzling scene, full of strange circumstances and secrets.",
    "eerie": "An eerie, ghostly, terrifying scene at night, that makes the blood run cold.",
    "violent": "A violent scene of fighting, blows, blood and cries.",
    "comic": "A comic, absurd scene, with jokes, ridicule and laughter.",
    "cheerful": "A cheerful, merry scene of good company, feasting and high spirits.",
    "romantic": "A romantic, tender scene between lovers, blushing and full of feeling.",
    "serene": "A serene, peaceful scene of calm weather, sunshine and quiet beauty.",
    "domestic": "A homely, domestic scene by the fireside, with tea, needlework and family talk.",
    "stormy": "A wild, stormy scene of wind, waves, thunder and lightning.",
    "polite": "A formal, polite scene of drawing-room conversation, compliments and wit.",
    "solemn": "A solemn, grand, reflective scene, like a sermon on life and death.",
    "exotic": "A scene in a strange far country, with foreign people, heat and unknown customs.",
}

VOCABULARY: dict[NotionLabel, dict[str, str]] = {"Theme": THEMES, "Atmosphere": ATMOSPHERES}

DIGEST = hashlib.sha256(json.dumps(VOCABULARY, sort_keys=True).encode("utf-8")).hexdigest()[:16]
"""Of the sentences: what was measured with others does not count."""
