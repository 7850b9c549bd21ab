"""The class of the finished competition: 24 teams, invented names."""

from __future__ import annotations

TEAMS: dict[str, tuple[str, ...]] = {
    "Gradient Descenders": ("amara.okafor", "jonas.keller", "mei.tanaka"),
    "The Overfitters": ("lucia.moretti", "tomas.novak"),
    "Null Hypothesis": ("priya.raman",),
    "Seven or One": ("samir.haddad", "ines.duarte"),
    "Pixel Pushers": ("oskar.lind", "fatima.elamrani", "daniel.brooks"),
    "Random Foresters": ("greta.vogel", "mateo.rios"),
    "Cross Validators": ("hannah.weiss", "arjun.mehta", "chloe.martin"),
    "k Nearest Friends": ("noah.berg", "yuki.sato", "lea.fontaine", "ibrahim.diallo"),
    "Margin Call": ("ewa.kowalska", "ben.carter"),
    "Bayes Watch": ("sofia.petrova", "liam.murphy"),
    "Late Night Epochs": ("zeynep.kaya", "marco.bianchi"),
    "Kernel Panic": ("anton.huber", "nadia.rahman"),
    "Bias and Variance": ("clara.jensen", "victor.nunes"),
    "The Regularizers": ("elif.demir", "paul.schmid", "rosa.vargas"),
    "Residuals": ("emil.larsson",),
    "Outliers Anonymous": ("maya.cohen", "felix.wagner"),
    "Study Group 7": ("aisha.bello", "jan.dvorak", "kira.olsen"),
    "Tabula Rasa": ("leo.rossi",),
    "Eager Learners": ("anna.nagy", "diego.castro"),
    "Monte Carlo Tuesdays": ("theo.laurent", "sara.lindgren"),
    "Softmax Soft Skills": ("hugo.meyer", "amina.yusuf"),
    "One Hot Mess": ("julia.horvat", "omar.farouk"),
    "Early Stoppers": ("nina.gruber", "david.kim"),
    "Last Row": ("max.steiner",),
}
