-- A store of schema 3, written by tests/migration/dump_store.py. Never edited.
BEGIN TRANSACTION;
CREATE TABLE about (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "about" VALUES('analysis','1 english');
CREATE TABLE concept_edges (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    space      INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    relation   TEXT    NOT NULL,
    target     INTEGER NOT NULL,
    weight     REAL    NOT NULL DEFAULT 1,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER
);
INSERT INTO "concept_edges" VALUES(1,1,20,'stands on',21,1.0,1767225603000000,NULL);
CREATE TABLE concept_names (
    space   INTEGER NOT NULL,
    folded  TEXT    NOT NULL,
    concept INTEGER NOT NULL,
    given   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, folded)
) WITHOUT ROWID;
INSERT INTO "concept_names" VALUES(1,'ops',1,0);
INSERT INTO "concept_names" VALUES(1,'release',2,0);
INSERT INTO "concept_names" VALUES(1,'deploys',3,0);
INSERT INTO "concept_names" VALUES(1,'friday',4,0);
INSERT INTO "concept_names" VALUES(1,'10.0.0.1',5,0);
INSERT INTO "concept_names" VALUES(1,'db.example.com',6,0);
INSERT INTO "concept_names" VALUES(1,'db.example.com:5432',7,0);
INSERT INTO "concept_names" VALUES(1,'clean',8,0);
INSERT INTO "concept_names" VALUES(1,'app.py',9,0);
INSERT INTO "concept_names" VALUES(1,'app.py::users',10,0);
INSERT INTO "concept_names" VALUES(1,'getuserbyid',11,0);
INSERT INTO "concept_names" VALUES(1,'printer',20,0);
INSERT INTO "concept_names" VALUES(1,'the old beast',20,1);
INSERT INTO "concept_names" VALUES(1,'second floor',21,0);
INSERT INTO "concept_names" VALUES(2,'ops',12,0);
INSERT INTO "concept_names" VALUES(2,'release',13,0);
INSERT INTO "concept_names" VALUES(2,'deploys',14,0);
INSERT INTO "concept_names" VALUES(2,'friday',15,0);
INSERT INTO "concept_names" VALUES(2,'10.0.0.1',16,0);
INSERT INTO "concept_names" VALUES(2,'db.example.com',17,0);
INSERT INTO "concept_names" VALUES(2,'db.example.com:5432',18,0);
INSERT INTO "concept_names" VALUES(2,'clean',19,0);
CREATE TABLE concepts (
    key   INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (key),
    name  TEXT    NOT NULL
);
INSERT INTO "concepts" VALUES(1,1,'ops');
INSERT INTO "concepts" VALUES(2,1,'release');
INSERT INTO "concepts" VALUES(3,1,'Deploys');
INSERT INTO "concepts" VALUES(4,1,'Friday');
INSERT INTO "concepts" VALUES(5,1,'10.0.0.1');
INSERT INTO "concepts" VALUES(6,1,'db.example.com');
INSERT INTO "concepts" VALUES(7,1,'db.example.com:5432');
INSERT INTO "concepts" VALUES(8,1,'Clean');
INSERT INTO "concepts" VALUES(9,1,'app.py');
INSERT INTO "concepts" VALUES(10,1,'app.py::users');
INSERT INTO "concepts" VALUES(11,1,'getuserbyid');
INSERT INTO "concepts" VALUES(12,2,'ops');
INSERT INTO "concepts" VALUES(13,2,'release');
INSERT INTO "concepts" VALUES(14,2,'Deploys');
INSERT INTO "concepts" VALUES(15,2,'Friday');
INSERT INTO "concepts" VALUES(16,2,'10.0.0.1');
INSERT INTO "concepts" VALUES(17,2,'db.example.com');
INSERT INTO "concepts" VALUES(18,2,'db.example.com:5432');
INSERT INTO "concepts" VALUES(19,2,'Clean');
INSERT INTO "concepts" VALUES(20,1,'Printer');
INSERT INTO "concepts" VALUES(21,1,'second floor');
CREATE TABLE edge_evidence (
    space     INTEGER NOT NULL,
    edge      INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    extractor INTEGER NOT NULL,
    valid_to  INTEGER,
    PRIMARY KEY (space, edge, memory, extractor)
) WITHOUT ROWID;
INSERT INTO "edge_evidence" VALUES(1,1,4,2,NULL);
CREATE TABLE extracted (
    space      INTEGER NOT NULL,
    extractor  INTEGER NOT NULL,
    digest     BLOB    NOT NULL,
    asked_at   INTEGER NOT NULL,
    extraction TEXT,
    PRIMARY KEY (space, extractor, digest)
) WITHOUT ROWID;
CREATE TABLE extractors (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,
    reads       INTEGER NOT NULL DEFAULT 1,
    calls       INTEGER NOT NULL DEFAULT 0,
    tokens      INTEGER NOT NULL DEFAULT 0,
    most_calls  INTEGER,
    most_tokens INTEGER
);
INSERT INTO "extractors" VALUES(1,'rules 1',1,0,0,NULL,NULL);
INSERT INTO "extractors" VALUES(2,'by hand',0,0,0,NULL,NULL);
CREATE TABLE links (
    space      INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    target     INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER,
    change     INTEGER NOT NULL,
    PRIMARY KEY (space, source, kind, target, valid_from)
) WITHOUT ROWID;
INSERT INTO "links" VALUES(1,1,'see-also',3,1767225611000000,1767225612000000,15);
INSERT INTO "links" VALUES(1,3,'supersedes',2,1767225611000000,NULL,12);
INSERT INTO "links" VALUES(1,4,'resolved-by',5,1767225611000000,NULL,13);
INSERT INTO "links" VALUES(2,9,'see-also',11,1767225623000000,1767225624000000,15);
INSERT INTO "links" VALUES(2,11,'supersedes',10,1767225623000000,NULL,12);
INSERT INTO "links" VALUES(2,12,'resolved-by',13,1767225623000000,NULL,13);
CREATE TABLE memories (
    -- Never used again, not even after a purge: what refers to it from outside must not meet another memory.
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    space      INTEGER NOT NULL REFERENCES spaces (key),
    id         BLOB    NOT NULL,
    deleted_at INTEGER,
    project    TEXT    NOT NULL,
    session    TEXT,
    place      INTEGER,
    category   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    importance REAL    NOT NULL,
    sensitive  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    action     TEXT    NOT NULL,
    length     REAL    NOT NULL,
    change     INTEGER NOT NULL,
    indexed_at INTEGER NOT NULL,
    tags       TEXT    NOT NULL,
    keywords   TEXT    NOT NULL,
    content    TEXT    NOT NULL
);
INSERT INTO "memories" VALUES(1,1,X'019B76DAA8007D8E91B7584A2265B1F5',NULL,'','session one',0,'decisions',1767225600000000,1767225609000000,1.0,0,3,'edited',7.5,10,1767225608000000,'["ops"]','["release"]','Deploys run from the main branch every Friday.');
INSERT INTO "memories" VALUES(2,1,X'019B76DAABE871038386BBC4CD613E30',NULL,'github.com/owner/name','session one',1,'facts',1767225601000000,1767225601000000,0.1,0,1,'remembered',5.5,2,1767225601000000,'["ops"]','[]','The staging database is at 10.0.0.1.');
INSERT INTO "memories" VALUES(3,1,X'019B76DAAFD077EC9E2FEB89414C343C',NULL,'','session one',2,'facts',1767225602000000,1767225602000000,0.2,0,1,'remembered',10.5,3,1767225602000000,'["ops"]','[]','The staging database moved to db.example.com:5432.');
INSERT INTO "memories" VALUES(4,1,X'019B76DAB3B8778DB311D8A3C2CE6F44',NULL,'github.com/owner/name','session one',3,'facts',1767225603000000,1767225603000000,0.3,0,1,'remembered',4.5,4,1767225603000000,'[]','[]','The printer on the second floor jams.');
INSERT INTO "memories" VALUES(5,1,X'019B76DAB7A07C9DA12E7696A6CECC1B',NULL,'','session one',4,'facts',1767225604000000,1767225604000000,0.4,0,1,'remembered',5.5,5,1767225604000000,'[]','[]','Clean the roller, then restart the printer service.');
INSERT INTO "memories" VALUES(6,1,X'019B76DABB8877CC98072E8C35BF992D',1767225610000000,'github.com/owner/name','session one',5,'facts',1767225605000000,1767225610000000,0.5,0,2,'forgotten',4.5,11,1767225610000000,'[]','[]','Lunch is at noon in café Zoë.');
INSERT INTO "memories" VALUES(7,1,X'019B76DABF707D5FA4B06CE60741C7A8',NULL,'','session one',6,'facts',1767225606000000,1767225606000000,0.6,1,1,'remembered',3.5,7,1767225606000000,'[]','[]','The vault''s combination is 1234.');
INSERT INTO "memories" VALUES(8,1,X'019B76DAC35879B9AEC9D28663CA828D',NULL,'github.com/owner/name','session one',7,'facts',1767225607000000,1767225607000000,0.7,0,1,'remembered',14.5,8,1767225607000000,'[]','[]','getUserById in app.py::users returns None for guests, 東京都 included.');
INSERT INTO "memories" VALUES(9,2,X'019B76DAD6E0700B84647159C324C985',NULL,'','session one',0,'decisions',1767225612000000,1767225621000000,1.0,0,3,'edited',7.5,10,1767225620000000,'["ops"]','["release"]','Deploys run from the main branch every Friday.');
INSERT INTO "memories" VALUES(10,2,X'019B76DADAC87441B204E52DB2221A58',NULL,'github.com/owner/name','session one',1,'facts',1767225613000000,1767225613000000,0.1,0,1,'remembered',5.5,2,1767225613000000,'["ops"]','[]','The staging database is at 10.0.0.1.');
INSERT INTO "memories" VALUES(11,2,X'019B76DADEB073AB8D447E35B8B6D8FE',NULL,'','session one',2,'facts',1767225614000000,1767225614000000,0.2,0,1,'remembered',10.5,3,1767225614000000,'["ops"]','[]','The staging database moved to db.example.com:5432.');
INSERT INTO "memories" VALUES(12,2,X'019B76DAE29871A3B1FD42A29755D4C1',NULL,'github.com/owner/name','session one',3,'facts',1767225615000000,1767225615000000,0.3,0,1,'remembered',4.5,4,1767225615000000,'[]','[]','The printer on the second floor jams.');
INSERT INTO "memories" VALUES(13,2,X'019B76DAE680707D91431193E6C3F339',NULL,'','session one',4,'facts',1767225616000000,1767225616000000,0.4,0,1,'remembered',5.5,5,1767225616000000,'[]','[]','Clean the roller, then restart the printer service.');
INSERT INTO "memories" VALUES(14,2,X'019B76DAEA687A6486839EB905B6E6E3',1767225622000000,'github.com/owner/name','session one',5,'facts',1767225617000000,1767225622000000,0.5,0,2,'forgotten',4.5,11,1767225622000000,'[]','[]','Lunch is at noon in café Zoë.');
INSERT INTO "memories" VALUES(15,2,X'019B76DAEE507F04825B413F8A9A021E',NULL,'','session one',6,'facts',1767225618000000,1767225618000000,0.6,1,1,'remembered',3.5,7,1767225618000000,'[]','[]','The vault''s combination is 1234.');
INSERT INTO "memories" VALUES(16,2,X'019B76DAF2387AF9A19699CFE1988AD9',NULL,'github.com/owner/name','session one',7,'facts',1767225619000000,1767225619000000,0.7,0,1,'remembered',14.5,8,1767225619000000,'[]','[]','getUserById in app.py::users returns None for guests, 東京都 included.');
CREATE TABLE memory_concepts (
    space     INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    concept   INTEGER NOT NULL,
    extractor INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    PRIMARY KEY (space, memory, concept, extractor)
) WITHOUT ROWID;
INSERT INTO "memory_concepts" VALUES(1,1,1,1,'tag');
INSERT INTO "memory_concepts" VALUES(1,1,2,1,'keyword');
INSERT INTO "memory_concepts" VALUES(1,1,3,1,'name');
INSERT INTO "memory_concepts" VALUES(1,1,4,1,'name');
INSERT INTO "memory_concepts" VALUES(1,2,1,1,'tag');
INSERT INTO "memory_concepts" VALUES(1,2,5,1,'identifier');
INSERT INTO "memory_concepts" VALUES(1,3,1,1,'tag');
INSERT INTO "memory_concepts" VALUES(1,3,6,1,'identifier');
INSERT INTO "memory_concepts" VALUES(1,3,7,1,'identifier');
INSERT INTO "memory_concepts" VALUES(1,4,20,2,'name');
INSERT INTO "memory_concepts" VALUES(1,4,21,2,'name');
INSERT INTO "memory_concepts" VALUES(1,5,8,1,'name');
INSERT INTO "memory_concepts" VALUES(1,8,9,1,'identifier');
INSERT INTO "memory_concepts" VALUES(1,8,10,1,'identifier');
INSERT INTO "memory_concepts" VALUES(1,8,11,1,'identifier');
INSERT INTO "memory_concepts" VALUES(2,9,12,1,'tag');
INSERT INTO "memory_concepts" VALUES(2,9,13,1,'keyword');
INSERT INTO "memory_concepts" VALUES(2,9,14,1,'name');
INSERT INTO "memory_concepts" VALUES(2,9,15,1,'name');
INSERT INTO "memory_concepts" VALUES(2,10,12,1,'tag');
INSERT INTO "memory_concepts" VALUES(2,10,16,1,'identifier');
INSERT INTO "memory_concepts" VALUES(2,11,12,1,'tag');
INSERT INTO "memory_concepts" VALUES(2,11,17,1,'identifier');
INSERT INTO "memory_concepts" VALUES(2,11,18,1,'identifier');
INSERT INTO "memory_concepts" VALUES(2,13,19,1,'name');
CREATE TABLE outbox (
    space  INTEGER NOT NULL,
    work   TEXT    NOT NULL,
    memory INTEGER NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (space, work, memory)
) WITHOUT ROWID;
INSERT INTO "outbox" VALUES(1,'vector 2',4,15);
INSERT INTO "outbox" VALUES(1,'vector 2',5,15);
INSERT INTO "outbox" VALUES(1,'vector 2',8,15);
INSERT INTO "outbox" VALUES(2,'concepts 1',16,15);
INSERT INTO "outbox" VALUES(2,'vector 1',16,15);
INSERT INTO "outbox" VALUES(2,'vector 2',9,15);
INSERT INTO "outbox" VALUES(2,'vector 2',10,15);
INSERT INTO "outbox" VALUES(2,'vector 2',11,15);
INSERT INTO "outbox" VALUES(2,'vector 2',12,15);
INSERT INTO "outbox" VALUES(2,'vector 2',13,15);
INSERT INTO "outbox" VALUES(2,'vector 2',16,15);
CREATE TABLE postings (
    space      INTEGER NOT NULL,
    term       TEXT    NOT NULL,
    memory     INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER,
    tf         REAL    NOT NULL,
    length     REAL    NOT NULL,
    PRIMARY KEY (space, term, memory, valid_from)
) WITHOUT ROWID;
INSERT INTO "postings" VALUES(1,'10',2,1767225601000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'10.0.0.1',2,1767225601000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'1234',7,1767225606000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(1,'5432',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'app',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'app.py',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'app.py::users',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'branch',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'branch',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'cafe',6,1767225605000000,1767225610000000,1.0,4.5);
INSERT INTO "postings" VALUES(1,'clean',5,1767225604000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'com',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'combin',7,1767225606000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(1,'databas',2,1767225601000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'databas',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'db',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'db.example.com',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'db.example.com:5432',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'decis',1,1767225600000000,1767225608000000,0.5,7.5);
INSERT INTO "postings" VALUES(1,'decis',1,1767225608000000,NULL,0.5,7.5);
INSERT INTO "postings" VALUES(1,'deploy',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'deploy',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'exampl',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'fact',2,1767225601000000,NULL,0.5,5.5);
INSERT INTO "postings" VALUES(1,'fact',3,1767225602000000,NULL,0.5,10.5);
INSERT INTO "postings" VALUES(1,'fact',4,1767225603000000,NULL,0.5,4.5);
INSERT INTO "postings" VALUES(1,'fact',5,1767225604000000,NULL,0.5,5.5);
INSERT INTO "postings" VALUES(1,'fact',6,1767225605000000,1767225610000000,0.5,4.5);
INSERT INTO "postings" VALUES(1,'fact',7,1767225606000000,NULL,0.5,3.5);
INSERT INTO "postings" VALUES(1,'fact',8,1767225607000000,NULL,0.5,14.5);
INSERT INTO "postings" VALUES(1,'floor',4,1767225603000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(1,'friday',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'get',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'getuserbyid',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'guest',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'id',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'includ',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'jam',4,1767225603000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(1,'lunch',6,1767225605000000,1767225610000000,1.0,4.5);
INSERT INTO "postings" VALUES(1,'main',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'main',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'move',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'noon',6,1767225605000000,1767225610000000,1.0,4.5);
INSERT INTO "postings" VALUES(1,'op',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'op',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'op',2,1767225601000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'op',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'printer',4,1767225603000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(1,'printer',5,1767225604000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'py',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'releas',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'releas',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'restart',5,1767225604000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'return',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'roller',5,1767225604000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'run',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'run',1,1767225608000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(1,'second',4,1767225603000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(1,'servic',5,1767225604000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'stage',2,1767225601000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(1,'stage',3,1767225602000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(1,'tuesday',1,1767225600000000,1767225608000000,1.0,7.5);
INSERT INTO "postings" VALUES(1,'user',8,1767225607000000,NULL,2.0,14.5);
INSERT INTO "postings" VALUES(1,'vault',7,1767225606000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(1,'zoe',6,1767225605000000,1767225610000000,1.0,4.5);
INSERT INTO "postings" VALUES(1,'京都',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(1,'東京',8,1767225607000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'10',10,1767225613000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'10.0.0.1',10,1767225613000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'1234',15,1767225618000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(2,'5432',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'app',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'app.py',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'app.py::users',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'branch',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'branch',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'cafe',14,1767225617000000,1767225622000000,1.0,4.5);
INSERT INTO "postings" VALUES(2,'clean',13,1767225616000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'com',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'combin',15,1767225618000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(2,'databas',10,1767225613000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'databas',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'db',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'db.example.com',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'db.example.com:5432',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'decis',9,1767225612000000,1767225620000000,0.5,7.5);
INSERT INTO "postings" VALUES(2,'decis',9,1767225620000000,NULL,0.5,7.5);
INSERT INTO "postings" VALUES(2,'deploy',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'deploy',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'exampl',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'fact',10,1767225613000000,NULL,0.5,5.5);
INSERT INTO "postings" VALUES(2,'fact',11,1767225614000000,NULL,0.5,10.5);
INSERT INTO "postings" VALUES(2,'fact',12,1767225615000000,NULL,0.5,4.5);
INSERT INTO "postings" VALUES(2,'fact',13,1767225616000000,NULL,0.5,5.5);
INSERT INTO "postings" VALUES(2,'fact',14,1767225617000000,1767225622000000,0.5,4.5);
INSERT INTO "postings" VALUES(2,'fact',15,1767225618000000,NULL,0.5,3.5);
INSERT INTO "postings" VALUES(2,'fact',16,1767225619000000,NULL,0.5,14.5);
INSERT INTO "postings" VALUES(2,'floor',12,1767225615000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(2,'friday',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'get',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'getuserbyid',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'guest',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'id',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'includ',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'jam',12,1767225615000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(2,'lunch',14,1767225617000000,1767225622000000,1.0,4.5);
INSERT INTO "postings" VALUES(2,'main',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'main',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'move',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'noon',14,1767225617000000,1767225622000000,1.0,4.5);
INSERT INTO "postings" VALUES(2,'op',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'op',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'op',10,1767225613000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'op',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'printer',12,1767225615000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(2,'printer',13,1767225616000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'py',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'releas',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'releas',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'restart',13,1767225616000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'return',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'roller',13,1767225616000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'run',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'run',9,1767225620000000,NULL,1.0,7.5);
INSERT INTO "postings" VALUES(2,'second',12,1767225615000000,NULL,1.0,4.5);
INSERT INTO "postings" VALUES(2,'servic',13,1767225616000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'stage',10,1767225613000000,NULL,1.0,5.5);
INSERT INTO "postings" VALUES(2,'stage',11,1767225614000000,NULL,1.0,10.5);
INSERT INTO "postings" VALUES(2,'tuesday',9,1767225612000000,1767225620000000,1.0,7.5);
INSERT INTO "postings" VALUES(2,'user',16,1767225619000000,NULL,2.0,14.5);
INSERT INTO "postings" VALUES(2,'vault',15,1767225618000000,NULL,1.0,3.5);
INSERT INTO "postings" VALUES(2,'zoe',14,1767225617000000,1767225622000000,1.0,4.5);
INSERT INTO "postings" VALUES(2,'京都',16,1767225619000000,NULL,1.0,14.5);
INSERT INTO "postings" VALUES(2,'東京',16,1767225619000000,NULL,1.0,14.5);
CREATE TABLE revisions (
    memory     INTEGER NOT NULL REFERENCES memories (key),
    space      INTEGER NOT NULL REFERENCES spaces (key),
    id         BLOB    NOT NULL,
    deleted_at INTEGER,
    project    TEXT    NOT NULL,
    session    TEXT,
    place      INTEGER,
    category   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    importance REAL    NOT NULL,
    sensitive  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    action     TEXT    NOT NULL,
    length     REAL    NOT NULL,
    tags       TEXT    NOT NULL,
    keywords   TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    valid_to   INTEGER NOT NULL
);
INSERT INTO "revisions" VALUES(1,1,X'019B76DAA8007D8E91B7584A2265B1F5',NULL,'','session one',0,'decisions',1767225600000000,1767225600000000,0.0,0,1,'remembered',7.5,'["ops"]','["release"]','Deploys run from the main branch every Tuesday.',1767225608000000);
INSERT INTO "revisions" VALUES(1,1,X'019B76DAA8007D8E91B7584A2265B1F5',NULL,'','session one',0,'decisions',1767225600000000,1767225608000000,0.0,0,2,'edited',7.5,'["ops"]','["release"]','Deploys run from the main branch every Friday.',1767225609000000);
INSERT INTO "revisions" VALUES(6,1,X'019B76DABB8877CC98072E8C35BF992D',NULL,'github.com/owner/name','session one',5,'facts',1767225605000000,1767225605000000,0.5,0,1,'remembered',4.5,'[]','[]','Lunch is at noon in café Zoë.',1767225610000000);
INSERT INTO "revisions" VALUES(9,2,X'019B76DAD6E0700B84647159C324C985',NULL,'','session one',0,'decisions',1767225612000000,1767225612000000,0.0,0,1,'remembered',7.5,'["ops"]','["release"]','Deploys run from the main branch every Tuesday.',1767225620000000);
INSERT INTO "revisions" VALUES(9,2,X'019B76DAD6E0700B84647159C324C985',NULL,'','session one',0,'decisions',1767225612000000,1767225620000000,0.0,0,2,'edited',7.5,'["ops"]','["release"]','Deploys run from the main branch every Friday.',1767225621000000);
INSERT INTO "revisions" VALUES(14,2,X'019B76DAEA687A6486839EB905B6E6E3',NULL,'github.com/owner/name','session one',5,'facts',1767225617000000,1767225617000000,0.5,0,1,'remembered',4.5,'[]','[]','Lunch is at noon in café Zoë.',1767225622000000);
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "settings" VALUES('limit','5');
CREATE TABLE spaces (
    key      INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    memories INTEGER NOT NULL DEFAULT 0,
    length   REAL    NOT NULL DEFAULT 0,
    change   INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "spaces" VALUES(1,'personal',7,51.5,15);
INSERT INTO "spaces" VALUES(2,'team',7,51.5,15);
CREATE TABLE vector_sets (
    -- Never used again: what is kept in memory under a key must not meet another model's vectors.
    key       INTEGER PRIMARY KEY AUTOINCREMENT,
    model     TEXT    NOT NULL UNIQUE,
    dimension INTEGER,
    active    INTEGER NOT NULL DEFAULT 0,
    revision  INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "vector_sets" VALUES(1,'turning',2,1,1);
INSERT INTO "vector_sets" VALUES(2,'unfinished',2,0,1);
CREATE TABLE vectors (
    space      INTEGER NOT NULL,
    vector_set INTEGER NOT NULL REFERENCES vector_sets (key),
    memory     INTEGER NOT NULL REFERENCES memories (key),
    revision   INTEGER NOT NULL,
    vector     BLOB    NOT NULL
);
INSERT INTO "vectors" VALUES(1,1,1,1,X'003C0000');
INSERT INTO "vectors" VALUES(1,1,2,1,X'003C7824');
INSERT INTO "vectors" VALUES(1,1,3,1,X'FF3B7828');
INSERT INTO "vectors" VALUES(1,1,4,1,X'FD3BB32A');
INSERT INTO "vectors" VALUES(1,1,5,1,X'FB3B772C');
INSERT INTO "vectors" VALUES(1,1,8,1,X'F83B942D');
INSERT INTO "vectors" VALUES(2,1,9,1,X'F53BB12E');
INSERT INTO "vectors" VALUES(2,1,10,1,X'F13BCD2F');
INSERT INTO "vectors" VALUES(2,1,11,1,X'EC3B7430');
INSERT INTO "vectors" VALUES(2,1,12,1,X'E73B0231');
INSERT INTO "vectors" VALUES(2,1,13,1,X'E13B8F31');
INSERT INTO "vectors" VALUES(1,2,1,1,X'003C0000');
INSERT INTO "vectors" VALUES(1,2,2,1,X'003C7824');
INSERT INTO "vectors" VALUES(1,2,3,1,X'FF3B7828');
CREATE UNIQUE INDEX memories_by_id ON memories (space, id);
CREATE INDEX memories_by_time ON memories (space, created_at);
CREATE INDEX memories_by_scope ON memories (space, project, session, place, category, deleted_at);
CREATE INDEX memories_by_change ON memories (space, change);
CREATE UNIQUE INDEX revisions_by_memory ON revisions (space, memory, version);
CREATE INDEX links_by_target ON links (space, target, kind, source, valid_from, valid_to);
CREATE INDEX links_by_change ON links (space, change);
CREATE UNIQUE INDEX vector_sets_active ON vector_sets (active) WHERE active;
CREATE UNIQUE INDEX vectors_by_memory ON vectors (space, memory, vector_set);
CREATE INDEX vectors_by_revision ON vectors (space, vector_set, revision, memory);
CREATE INDEX concept_names_by_concept ON concept_names (space, concept, given);
CREATE INDEX memory_concepts_by_concept ON memory_concepts (space, concept, memory);
CREATE UNIQUE INDEX concept_edges_present ON concept_edges (space, source, relation, target) WHERE valid_to IS NULL;
CREATE INDEX concept_edges_by_source ON concept_edges (space, source, target);
CREATE INDEX concept_edges_by_target ON concept_edges (space, target, source);
CREATE INDEX edge_evidence_by_memory ON edge_evidence (space, memory, edge);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('memories',16);
INSERT INTO "sqlite_sequence" VALUES('vector_sets',2);
INSERT INTO "sqlite_sequence" VALUES('extractors',2);
INSERT INTO "sqlite_sequence" VALUES('concepts',22);
INSERT INTO "sqlite_sequence" VALUES('concept_edges',1);
COMMIT;
PRAGMA application_id = 1382247540;
PRAGMA user_version = 3;
