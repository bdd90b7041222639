CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS contact (
    email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, lastNameInitial TEXT,
    company TEXT REFERENCES company (id), age INTEGER, balance REAL, updated TEXT);
