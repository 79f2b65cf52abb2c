PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE answers (
        id INTEGER PRIMARY KEY REFERENCES requests (id),
        kind TEXT NOT NULL CHECK (kind IN ('response', 'failure')),
        body TEXT NOT NULL,
        digest BLOB NOT NULL,
        batch INTEGER NOT NULL REFERENCES batches (id)
    ) STRICT;
INSERT INTO "answers" VALUES(1,'response','{"content":"2","usage":{"prompt":10,"cached":4,"completion":5},"raw":"{}"}',X'B68FCBB23746AA502D254B1103C3E4E2',1);
INSERT INTO "answers" VALUES(2,'failure','{"kind":"server","message":"500","status":500}',X'098EAC3F8BD36669F3CE066D207ED783',1);
INSERT INTO "answers" VALUES(3,'response','{"content":"4","reasoning":"1 + 3 = 4","usage":{"prompt":7}}',X'8BDE03107B8B5223A9C856D2FE308B2D',2);
INSERT INTO "answers" VALUES(4,'response','{"content":"5"}',X'E37C895D06FF98E432C088E780F7A45D',2);
CREATE TABLE batches (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, n INTEGER NOT NULL
    , responses INTEGER NOT NULL DEFAULT 0, prompt INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0, completion INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "batches" VALUES(1,'2026-11-02T12:00:00+00:00',2,1,10,4,5);
INSERT INTO "batches" VALUES(2,'2026-11-02T12:00:00+00:00',2,2,7,0,0);
CREATE TABLE finished (unit INTEGER PRIMARY KEY, failed INTEGER NOT NULL) STRICT;
INSERT INTO "finished" VALUES(0,1);
INSERT INTO "finished" VALUES(3,0);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('plan','{}');
INSERT INTO "meta" VALUES('misled','0.1.0');
CREATE TABLE places (
        level INTEGER NOT NULL, key BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (level, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "places" VALUES(0,X'303FC8AD8C7918C6F095569A658E1F06',1);
INSERT INTO "places" VALUES(0,X'4E9AD3633267434413E942BE0B10CB13',4);
INSERT INTO "places" VALUES(0,X'B469A46CABA5752B7C3BE49CF5C7021A',3);
INSERT INTO "places" VALUES(0,X'DFB8972CC11FB45C752927C2C31C304D',2);
CREATE TABLE requests (id INTEGER PRIMARY KEY, key TEXT NOT NULL, body TEXT NOT NULL) STRICT;
INSERT INTO "requests" VALUES(1,'b2:303fc8ad8c7918c6f095569a658e1f06','{"messages":[{"content":"1 + 1?","role":"user"}],"model":"m","provider":"toy"}');
INSERT INTO "requests" VALUES(2,'b2:dfb8972cc11fb45c752927c2c31c304d','{"messages":[{"content":"1 + 2?","role":"user"}],"model":"m","provider":"toy"}');
INSERT INTO "requests" VALUES(3,'b2:b469a46caba5752b7c3be49cf5c7021a','{"messages":[{"content":"1 + 3?","role":"user"}],"model":"m","provider":"toy"}');
INSERT INTO "requests" VALUES(4,'b2:4e9ad3633267434413e942be0b10cb13','{"messages":[{"content":"1 + 4?","role":"user"}],"model":"m","provider":"toy"}');
CREATE INDEX failures ON answers (id) WHERE kind = 'failure';
COMMIT;
