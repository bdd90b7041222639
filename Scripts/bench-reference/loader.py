#!/usr/bin/env python3
"""What people write today: lxml.etree.iterparse and sqlite3.executemany. loader.py STORE CONTACTS.XML"""
import sqlite3
import sys

from lxml import etree


def contacts(path):
    for _, contact in etree.iterparse(path, tag="contact"):
        last_name = contact.findtext("lastName")
        yield (
            contact.findtext("email"),
            contact.findtext("firstName"),
            last_name,
            last_name[:1] if last_name else None,
            contact.findtext("company"),
            int(contact.findtext("age")),
            float(contact.findtext("balance")),
            contact.findtext("updated"),
        )
        contact.clear()
        while contact.getprevious() is not None:
            del contact.getparent()[0]


store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA journal_mode = WAL")
store.execute(
    "CREATE TABLE IF NOT EXISTS contact (email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, "
    "lastNameInitial TEXT, company TEXT, age INTEGER, balance REAL, updated TEXT)"
)
with store:
    store.executemany("INSERT OR REPLACE INTO contact VALUES (?, ?, ?, ?, ?, ?, ?, ?)", contacts(sys.argv[2]))
store.close()
