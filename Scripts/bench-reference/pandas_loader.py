#!/usr/bin/env python3
"""With pandas, as its guide does it for large files: read_xml(iterparse=…), then to_sql. pandas_loader.py STORE CONTACTS.XML

The whole feed becomes one frame, which replaces the rows of the table, in one transaction: to_sql itself has no upsert.
"""
import pathlib
import sqlite3
import sys

import pandas

feed = pandas.read_xml(
    str(pathlib.Path(sys.argv[2]).resolve()),
    iterparse={"contact": ["email", "firstName", "lastName", "company", "age", "balance", "updated"]},
)
feed.insert(3, "lastNameInitial", feed["lastName"].str[:1])

store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA journal_mode = WAL")
with store:
    store.execute(
        "CREATE TABLE IF NOT EXISTS contact (email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, "
        "lastNameInitial TEXT, company TEXT, age INTEGER, balance REAL, updated TEXT)"
    )
    feed.to_sql("contact", store, if_exists="delete_rows", index=False)
store.close()
