BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'piecework','m001_first_loop','2026-11-22 12:49:14.654169+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'piecework','m_agreements','2026-11-22 12:49:14.663770+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'piecework','m_standing','2026-11-22 12:49:14.675424+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'piecework','m_stops','2026-11-22 12:49:14.675985+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'piecework','m_harvests','2026-11-22 12:49:14.677048+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'piecework','m_polls','2026-11-22 12:49:14.677474+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'piecework','m_scores','2026-11-22 12:49:14.677926+00:00');
CREATE TABLE about (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "about" VALUES('campaign','small');
INSERT INTO "about" VALUES('world','rehearsal, seed 3');
INSERT INTO "about" VALUES('work','7770638d7239c66c6af310fb2662fe252b3550a442a59b549530a887834c4385');
INSERT INTO "about" VALUES('name','piecework rehearsal small 3');
INSERT INTO "about" VALUES('pseudonym_key','28d3fca3f5753096174e480aa733f4aba471b7a83e97abf9ecc56d198f8f6638');
INSERT INTO "about" VALUES('traits of simulated workers','{"A00ZY2G65VMHXJ": ["slow", false], "A3HX1EHYIUPQUI": ["diligent", false], "A46ZVE2A5O12RZ": ["hurried", false], "A4C258WOLDQ44R": ["careless_speller", false], "A4L29D4H2YYZST": ["hurried", false], "A4V9T1Z1J3Z2PO": ["diligent", false], "A5P2M5DQPWY2LE": ["lone_unreadable", true], "A623W6AD31JJCO": ["careless_speller", false], "A6AC9N695CC25U": ["quality_writer", true], "A6HBLOCS249OSW": ["careless_speller", false], "A7E6XWU70EALDG": ["hurried", false], "A9IUWI2QBNINMX": ["diligent", false], "AA1XH9SYPRQI2N": ["hurried", false], "AB01913KE9Z55C": ["slow", false], "ADMVLJ4F01DGVU": ["slow", false], "ADUQ3KC6N0302G": ["diligent", false], "AE97G7J24B1TAH": ["diligent", false], "AEAQGHZL5H4XES": ["diligent", false], "AECRCX34J1PBKN": ["diligent", false], "AEGRATCDG0TF0C": ["careless_speller", false], "AGF79K5YSOZH63": ["lone_unreadable", true], "AHQN1G3WJ5X2IS": ["diligent", false], "AIKE3XGI084VKZ": ["diligent", false], "AIXL9JB2OPL4OH": ["diligent", false], "AJ9YBHFUMXSBEF": ["diligent", false], "AJMBY72EFA2ZCK": ["diligent", false], "AJNRWQK6I2PH5Y": ["slow", false], "ALEBB3CNEJM0RQ": ["diligent", false], "ALH4I85314YATH": ["diligent", false], "AM8M12Y8YUF7IW": ["canned_abuser", true], "AMFCF9HCEENRAZ": ["careless_speller", false], "AMOWHGVPT523IQ": ["hurried", false], "AMV6A9UK7V6PF8": ["shouting", true], "AN9E7OJY2DAM3Q": ["paster", true], "AO077O6RNYSE6U": ["slow", false], "AODZHVFUV3KBAN": ["diligent", false], "APNLBJ7QSB6BBO": ["diligent", false], "APPSSGU8487XXP": ["diligent", false], "AQ52ZSO1BTAU5A": ["diligent", false], "AU2KBGM8L2U4L4": ["paster", true], "AU53H386E7649U": ["shouting", true], "AUQR33KT4DUB0T": ["diligent", false], "AVNH429FD0RN3Y": ["diligent", false], "AXDOFFUP2QO04G": ["hurried", false], "AYEZF74PL9FVPT": ["diligent", false], "AYUHL2JGHEQHZ9": ["hurried", false], "AZS27LDAVB0VN6": ["quality_writer", true], "AZYXE8RTLMSGZD": ["canned_abuser", true]}');
INSERT INTO "about" VALUES('exclusion','36IXSUBK30J30AVYERGI2OAPGNA46L');
INSERT INTO "about" VALUES('hit type 3f4015db297f28c6','3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU');
CREATE TABLE agreements (agreement_id INTEGER PRIMARY KEY, amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0), agreed_at TEXT NOT NULL) STRICT;
CREATE TABLE answers (
    answer_id TEXT PRIMARY KEY,
    assignment_id TEXT NOT NULL REFERENCES assignments (assignment_id),
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    fields TEXT NOT NULL,
    problems TEXT NOT NULL
) STRICT;
INSERT INTO "answers" VALUES('3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z.1','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','scene_0001',1,'{"values": {"caption": "Two blue candles, a blue vase along with a purple jar that says mustard are placed on the boards of a shelf.", "has_text": "yes", "flaws": ["dark"], "flaw_other": ""}, "shown_ms": 98650, "pastes": 0, "keystrokes": 110, "focus_losses": 0}','[]');
INSERT INTO "answers" VALUES('3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z.2','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','scene_0002',2,'{"values": {"caption": "Quality issues are too severe to recognize visual content.", "has_text": "no", "flaws": ["obscured"], "flaw_other": ""}, "shown_ms": 32830, "pastes": 0, "keystrokes": 0, "focus_losses": 0}','[]');
INSERT INTO "answers" VALUES('3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO.1','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','scene_0001',1,'{"values": {"caption": "A blue vase next to a purple jar that says Mustard on the boards of a shelf.", "has_text": "yes", "flaws": ["dark"], "flaw_other": ""}, "shown_ms": 140455, "pastes": 0, "keystrokes": 84, "focus_losses": 0}','[]');
INSERT INTO "answers" VALUES('3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO.2','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','scene_0002',2,'{"values": {"caption": "Quality issues are too severe to recognize visual content.", "has_text": "no", "flaws": ["dark", "obscured"], "flaw_other": ""}, "shown_ms": 290715, "pastes": 0, "keystrokes": 0, "focus_losses": 0}','[]');
CREATE TABLE assignments (
    assignment_id TEXT PRIMARY KEY,
    hit_id TEXT NOT NULL REFERENCES hits (hit_id),
    worker_id TEXT NOT NULL,
    status_when_collected TEXT NOT NULL,
    accepted_at TEXT NOT NULL,
    submitted_at TEXT NOT NULL,
    raw TEXT NOT NULL,
    fields TEXT NOT NULL
) STRICT;
INSERT INTO "assignments" VALUES('3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','APNLBJ7QSB6BBO','Submitted','2026-01-05T09:02:56.747000+00:00','2026-01-05T09:05:44.187000+00:00','<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0001</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>98650</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>110</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>Two blue candles, a blue vase along with a purple jar that says mustard are placed on the boards of a shelf.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>dark</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0002</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>32830</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>Quality issues are too severe to recognize visual content.</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>obscured</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>','{"item.1": "scene_0001", "shown_ms.1": "98650", "pastes.1": "0", "keystrokes.1": "110", "focus_losses.1": "0", "caption.1": "Two blue candles, a blue vase along with a purple jar that says mustard are placed on the boards of a shelf.", "has_text.1": "yes", "flaws.1": "dark", "flaw_other.1": "", "item.2": "scene_0002", "shown_ms.2": "32830", "pastes.2": "0", "keystrokes.2": "0", "focus_losses.2": "0", "caption.2": "Quality issues are too severe to recognize visual content.", "has_text.2": "no", "flaws.2": "obscured", "flaw_other.2": "", "comment": ""}');
INSERT INTO "assignments" VALUES('3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','ADMVLJ4F01DGVU','Submitted','2026-01-05T09:02:27.664000+00:00','2026-01-05T09:09:43.131000+00:00','<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0001</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>140455</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>84</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>A blue vase next to a purple jar that says Mustard on the boards of a shelf.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>dark</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0002</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>290715</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>Quality issues are too severe to recognize visual content.</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>dark|obscured</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>','{"item.1": "scene_0001", "shown_ms.1": "140455", "pastes.1": "0", "keystrokes.1": "84", "focus_losses.1": "0", "caption.1": "A blue vase next to a purple jar that says Mustard on the boards of a shelf.", "has_text.1": "yes", "flaws.1": "dark", "flaw_other.1": "", "item.2": "scene_0002", "shown_ms.2": "290715", "pastes.2": "0", "keystrokes.2": "0", "focus_losses.2": "0", "caption.2": "Quality issues are too severe to recognize visual content.", "has_text.2": "no", "flaws.2": "dark|obscured", "flaw_other.2": "", "comment": ""}');
CREATE TABLE decisions (
    decision_id INTEGER PRIMARY KEY,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    because TEXT NOT NULL
) STRICT;
INSERT INTO "decisions" VALUES(1,'answer','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO.1','keep','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
INSERT INTO "decisions" VALUES(2,'answer','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO.2','keep','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
INSERT INTO "decisions" VALUES(3,'answer','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z.1','keep','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
INSERT INTO "decisions" VALUES(4,'answer','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z.2','keep','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
INSERT INTO "decisions" VALUES(5,'assignment','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','approve','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
INSERT INTO "decisions" VALUES(6,'assignment','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','approve','policy:small','2026-01-05T09:09:43.131000+00:00','nothing in the policy speaks against it');
CREATE TABLE edits (
    answer_id TEXT NOT NULL REFERENCES answers (answer_id),
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (answer_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE findings (
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    heuristic TEXT NOT NULL,
    version INTEGER NOT NULL,
    suspicion REAL NOT NULL CHECK (suspicion BETWEEN 0 AND 1),
    flag INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (subject_kind, subject_id, heuristic)
) STRICT, WITHOUT ROWID;
CREATE TABLE hits (
    hit_key TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    round INTEGER NOT NULL,
    max_assignments INTEGER NOT NULL CHECK (max_assignments > 0),
    reward_cents INTEGER NOT NULL CHECK (reward_cents >= 0),
    fee_cents INTEGER NOT NULL CHECK (fee_cents >= 0),
    item_ids TEXT NOT NULL,
    hit_type_id TEXT,
    hit_id TEXT UNIQUE,
    posted_at TEXT,
    collected_at TEXT
, looked_at TEXT) STRICT;
INSERT INTO "hits" VALUES('small.b0001.r00.000001',1,0,2,100,20,'["scene_0001", "scene_0002"]','3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','2026-01-05T09:00:00.000000+00:00','2026-01-05T09:09:43.131000+00:00',NULL);
INSERT INTO "hits" VALUES('small.b0002.r00.000001',2,0,2,100,20,'["scene_0004", "scene_0003"]','3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6','2026-01-05T09:09:43.131000+00:00',NULL,NULL);
CREATE TABLE intents (
    intent_key TEXT PRIMARY KEY,
    operation TEXT NOT NULL,
    arguments TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    made_at TEXT NOT NULL,
    done_at TEXT,
    outcome TEXT
) STRICT;
INSERT INTO "intents" VALUES('publish:small.b0001.r00.000001','publish','{"annotation": "piecework rehearsal small 3/small.b0001.r00.000001", "hit_type_id": "3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU"}',240,'2026-01-05T09:00:00.000000+00:00','2026-01-05T09:00:00.000000+00:00','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO');
INSERT INTO "intents" VALUES('approve:3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','approve','{"subject": "3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO"}',120,'2026-01-05T09:09:43.131000+00:00','2026-01-05T09:09:43.131000+00:00','done');
INSERT INTO "intents" VALUES('approve:3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','approve','{"subject": "3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z"}',120,'2026-01-05T09:09:43.131000+00:00','2026-01-05T09:09:43.131000+00:00','done');
INSERT INTO "intents" VALUES('publish:small.b0002.r00.000001','publish','{"annotation": "piecework rehearsal small 3/small.b0002.r00.000001", "hit_type_id": "3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU"}',240,'2026-01-05T09:09:43.131000+00:00','2026-01-05T09:09:43.131000+00:00','3BP9RHB2GZMTIARQOS6226DOLHAPR6');
CREATE TABLE ledger (
    entry_id INTEGER PRIMARY KEY,
    intent_key TEXT NOT NULL REFERENCES intents (intent_key),
    credit TEXT NOT NULL,
    debit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    at TEXT NOT NULL
) STRICT;
INSERT INTO "ledger" VALUES(1,'publish:small.b0001.r00.000001','requester','held',240,'2026-01-05T09:00:00.000000+00:00');
INSERT INTO "ledger" VALUES(2,'approve:3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','held','rewards',100,'2026-01-05T09:09:43.131000+00:00');
INSERT INTO "ledger" VALUES(3,'approve:3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO','held','fees',20,'2026-01-05T09:09:43.131000+00:00');
INSERT INTO "ledger" VALUES(4,'approve:3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','held','rewards',100,'2026-01-05T09:09:43.131000+00:00');
INSERT INTO "ledger" VALUES(5,'approve:3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z','held','fees',20,'2026-01-05T09:09:43.131000+00:00');
INSERT INTO "ledger" VALUES(6,'publish:small.b0002.r00.000001','requester','held',240,'2026-01-05T09:09:43.131000+00:00');
CREATE TABLE polls (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), asked_at TEXT NOT NULL, wait_seconds REAL NOT NULL) STRICT;
CREATE TABLE scores (worker_id TEXT PRIMARY KEY, score INTEGER NOT NULL, seen_at TEXT NOT NULL) STRICT;
CREATE TABLE standing (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), asked TEXT NOT NULL, tally TEXT NOT NULL, progress TEXT NOT NULL) STRICT;
CREATE TABLE stops (stop_id INTEGER PRIMARY KEY, stopped_at TEXT NOT NULL, undone_at TEXT) STRICT;
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX hits_by_batch ON hits (batch, round);
CREATE INDEX assignments_by_hit ON assignments (hit_id);
CREATE INDEX assignments_by_worker ON assignments (worker_id);
CREATE INDEX answers_by_assignment ON answers (assignment_id);
CREATE INDEX decisions_by_subject ON decisions (subject_kind, subject_id);
COMMIT;
