BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'marketplace','m001_first_market','2026-11-22 12:49:14.472783+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'marketplace','m002_keys_and_signatures','2026-11-22 12:49:14.473448+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'marketplace','m003_invitations_and_sessions','2026-11-22 12:49:14.474097+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'marketplace','m004_tests_reviews_and_events','2026-11-22 12:49:14.493202+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'marketplace','m005_a_glance_over_expired_hits','2026-11-22 12:49:14.493770+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'marketplace','m006_events_have_an_end','2026-11-22 12:49:14.494829+00:00');
CREATE TABLE access_keys (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    secret TEXT,
    made_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    CHECK ((secret IS NULL) = (revoked_ms IS NOT NULL))
) STRICT;
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL
        CHECK (kind IN ('outside', 'fees', 'available', 'held', 'worker')),
    owner INTEGER NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (kind = 'outside' OR balance_cents >= 0),
    UNIQUE (kind, owner)
) STRICT;
INSERT INTO "accounts" VALUES(1,'outside',0,-1000000);
INSERT INTO "accounts" VALUES(2,'available',1,999520);
INSERT INTO "accounts" VALUES(3,'held',1,240);
INSERT INTO "accounts" VALUES(4,'worker',31,100);
INSERT INTO "accounts" VALUES(5,'fees',0,40);
INSERT INTO "accounts" VALUES(6,'worker',7,100);
CREATE TABLE assignments (
    id INTEGER PRIMARY KEY,
    assignment_id TEXT NOT NULL UNIQUE,
    hit INTEGER NOT NULL REFERENCES hits (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN
        ('Accepted', 'Returned', 'Abandoned', 'Submitted', 'Approved', 'Rejected')),
    accepted_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    submitted_ms INTEGER,
    auto_approve_ms INTEGER,
    approved_ms INTEGER,
    rejected_ms INTEGER,
    paid_cents INTEGER NOT NULL DEFAULT 0,
    fee_cents INTEGER NOT NULL DEFAULT 0,
    feedback TEXT,
    answer TEXT
, review_ms INTEGER) STRICT;
INSERT INTO "assignments" VALUES(1,'3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO',1,31,'Approved',1767603747664,1767607347664,1767604183131,1767604183131,1770196183131,1767604183131,NULL,100,20,NULL,'<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0001</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>140455</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>84</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>A blue vase next to a purple jar that says Mustard on the boards of a shelf.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>dark</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0002</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>290715</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>Quality issues are too severe to recognize visual content.</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>dark|obscured</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>',NULL);
INSERT INTO "assignments" VALUES(2,'3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z',1,7,'Approved',1767603776747,1767607376747,1767603944187,1767603944187,1770195944187,1767604183131,NULL,100,20,NULL,'<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0001</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>98650</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>110</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>Two blue candles, a blue vase along with a purple jar that says mustard are placed on the boards of a shelf.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>dark</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0002</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>32830</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>Quality issues are too severe to recognize visual content.</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>obscured</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>',NULL);
INSERT INTO "assignments" VALUES(3,'3DNHHN300Z8KCNZUZ90B8ZOUDK2ARX',2,40,'Submitted',1767604210494,1767607810494,1767604344281,1767604344281,1770196344281,NULL,NULL,0,0,NULL,'<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0004</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>85985</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>85</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>TWO GREEN TREES CAN BE SEEN ALONG A ROAD IN A TOWN IN FRONT OF A ROW OF HOUSES.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>blur|framing</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0003</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>37910</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>90</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>A PICTURE OF TWO PURPLE TOWELS NEXT TO A RED BOTTLE THAT SAYS SYRUP ON A BATHROOM COUNTER.</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>none</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>',NULL);
INSERT INTO "assignments" VALUES(4,'3ZB9FP6FR10LF6NNFZA0DPESWBLYMQ',2,17,'Submitted',1767604255867,1767607855867,1767604379770,1767604379770,1770196379770,NULL,NULL,0,0,NULL,'<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>item.1</QuestionIdentifier><FreeText>scene_0004</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.1</QuestionIdentifier><FreeText>82878</FreeText></Answer><Answer><QuestionIdentifier>pastes.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.1</QuestionIdentifier><FreeText>78</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.1</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.1</QuestionIdentifier><FreeText>A green tree can be found on the side of a street in front of a row of houses.</FreeText></Answer><Answer><QuestionIdentifier>has_text.1</QuestionIdentifier><FreeText>no</FreeText></Answer><Answer><QuestionIdentifier>flaws.1</QuestionIdentifier><FreeText>blur|framing</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.1</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>item.2</QuestionIdentifier><FreeText>scene_0003</FreeText></Answer><Answer><QuestionIdentifier>shown_ms.2</QuestionIdentifier><FreeText>35489</FreeText></Answer><Answer><QuestionIdentifier>pastes.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>keystrokes.2</QuestionIdentifier><FreeText>142</FreeText></Answer><Answer><QuestionIdentifier>focus_losses.2</QuestionIdentifier><FreeText>0</FreeText></Answer><Answer><QuestionIdentifier>caption.2</QuestionIdentifier><FreeText>Two purple towels and a red bottle with the word SYRUP can be seen next to a sink in a bathroom below a mirror on the wall</FreeText></Answer><Answer><QuestionIdentifier>has_text.2</QuestionIdentifier><FreeText>yes</FreeText></Answer><Answer><QuestionIdentifier>flaws.2</QuestionIdentifier><FreeText>none</FreeText></Answer><Answer><QuestionIdentifier>flaw_other.2</QuestionIdentifier><FreeText></FreeText></Answer><Answer><QuestionIdentifier>comment</QuestionIdentifier><FreeText></FreeText></Answer></QuestionFormAnswers>',NULL);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    reason TEXT NOT NULL,
    UNIQUE (requester, worker)
) STRICT;
CREATE TABLE bonuses (
    id INTEGER PRIMARY KEY,
    assignment INTEGER NOT NULL REFERENCES assignments (id),
    hit INTEGER NOT NULL REFERENCES hits (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    cents INTEGER NOT NULL,
    fee_cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    paid_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE calls (
    operation TEXT PRIMARY KEY,
    times INTEGER NOT NULL
) STRICT;
INSERT INTO "calls" VALUES('ListHITs',3);
INSERT INTO "calls" VALUES('CreateQualificationType',1);
INSERT INTO "calls" VALUES('CreateHITType',1);
INSERT INTO "calls" VALUES('CreateHITWithHITType',2);
INSERT INTO "calls" VALUES('ListReviewableHITs',1);
INSERT INTO "calls" VALUES('ListAssignmentsForHIT',1);
INSERT INTO "calls" VALUES('ApproveAssignment',2);
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
INSERT INTO "counters" VALUES('qualification_types',1);
INSERT INTO "counters" VALUES('hits',2);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES events (id),
    transport TEXT NOT NULL,
    destination TEXT NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Waiting', 'Delivered', 'Failed')),
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE entries (
    transfer INTEGER NOT NULL REFERENCES transfers (id),
    account INTEGER NOT NULL REFERENCES accounts (id),
    cents INTEGER NOT NULL,
    PRIMARY KEY (transfer, account)
) STRICT, WITHOUT ROWID;
INSERT INTO "entries" VALUES(1,1,-1000000);
INSERT INTO "entries" VALUES(1,2,1000000);
INSERT INTO "entries" VALUES(2,2,-240);
INSERT INTO "entries" VALUES(2,3,240);
INSERT INTO "entries" VALUES(3,3,-120);
INSERT INTO "entries" VALUES(3,4,100);
INSERT INTO "entries" VALUES(3,5,20);
INSERT INTO "entries" VALUES(4,3,-120);
INSERT INTO "entries" VALUES(4,5,20);
INSERT INTO "entries" VALUES(4,6,100);
INSERT INTO "entries" VALUES(5,2,-240);
INSERT INTO "entries" VALUES(5,3,240);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    event_type TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    hit_type_id TEXT,
    hit_id TEXT,
    assignment_id TEXT
, drop_ms INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "events" VALUES(1,1,'HITCreated',1767603600000,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO',NULL,1770195600000);
INSERT INTO "events" VALUES(2,1,'AssignmentAccepted',1767603747664,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO',1770195747664);
INSERT INTO "events" VALUES(3,1,'AssignmentAccepted',1767603776747,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z',1770195776747);
INSERT INTO "events" VALUES(4,1,'AssignmentSubmitted',1767603944187,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z',1770195944187);
INSERT INTO "events" VALUES(5,1,'AssignmentSubmitted',1767604183131,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO',1770196183131);
INSERT INTO "events" VALUES(6,1,'HITReviewable',1767604183131,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO',NULL,1770196183131);
INSERT INTO "events" VALUES(7,1,'AssignmentApproved',1767604183131,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO',1770196183131);
INSERT INTO "events" VALUES(8,1,'AssignmentApproved',1767604183131,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z',1770196183131);
INSERT INTO "events" VALUES(9,1,'HITCreated',1767604183131,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6',NULL,1770196183131);
INSERT INTO "events" VALUES(10,1,'AssignmentAccepted',1767604210494,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6','3DNHHN300Z8KCNZUZ90B8ZOUDK2ARX',1770196210494);
INSERT INTO "events" VALUES(11,1,'AssignmentAccepted',1767604255867,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6','3ZB9FP6FR10LF6NNFZA0DPESWBLYMQ',1770196255867);
INSERT INTO "events" VALUES(12,1,'AssignmentSubmitted',1767604344281,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6','3DNHHN300Z8KCNZUZ90B8ZOUDK2ARX',1770196344281);
INSERT INTO "events" VALUES(13,1,'AssignmentSubmitted',1767604379770,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6','3ZB9FP6FR10LF6NNFZA0DPESWBLYMQ',1770196379770);
INSERT INTO "events" VALUES(14,1,'HITReviewable',1767604379770,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3BP9RHB2GZMTIARQOS6226DOLHAPR6',NULL,1770196379770);
CREATE TABLE hit_type_qualifications (
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    PRIMARY KEY (qualification_type, hit_type)
) STRICT, WITHOUT ROWID;
INSERT INTO "hit_type_qualifications" VALUES(1,7);
CREATE TABLE hit_types (
    id INTEGER PRIMARY KEY,
    hit_type_id TEXT NOT NULL UNIQUE,
    hit_group_id TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    fingerprint TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    keywords TEXT NOT NULL,
    reward_cents INTEGER NOT NULL CHECK (reward_cents >= 0),
    duration_seconds INTEGER NOT NULL,
    auto_approval_seconds INTEGER NOT NULL,
    requirements TEXT NOT NULL,
    assignable_hits INTEGER NOT NULL CHECK (assignable_hits >= 0),
    created_ms INTEGER NOT NULL, deleted_ms INTEGER,
    UNIQUE (requester, fingerprint)
) STRICT;
INSERT INTO "hit_types" VALUES(1,'3BBGG0YFVMTYP6DQZ34EEPM2XQ43QU','3C2S9FJWOT46B0YTT5WIRFLEW3O2Y3',1,'00a1cc1afb8bf40a9048b1662122835caad3be5abc86b2925cbd04710a3398a1','Describe pictures taken by people who are blind','Describe up to five photographs in one sentence each, say whether they show text, and tick what is wrong with the photo.','image, picture, captioning, describe, description, image quality',100,3600,2592000,'[{"QualificationTypeId": "36IXSUBK30J30AVYERGI2OAPGNA46L", "Comparator": "DoesNotExist", "ActionsGuarded": "DiscoverPreviewAndAccept", "RequiredToPreview": true}]',0,1767603600000,NULL);
CREATE TABLE hits (
    id INTEGER PRIMARY KEY,
    hit_id TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    status TEXT NOT NULL CHECK (status IN
        ('Assignable', 'Unassignable', 'Reviewable', 'Reviewing', 'Disposed')),
    max_assignments INTEGER NOT NULL,
    accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    submitted INTEGER NOT NULL DEFAULT 0 CHECK (submitted >= 0),
    approved INTEGER NOT NULL DEFAULT 0 CHECK (approved >= 0),
    rejected INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    reward_cents INTEGER NOT NULL,
    fee_cents INTEGER NOT NULL,
    held_cents INTEGER NOT NULL CHECK (held_cents >= 0),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    is_expired INTEGER NOT NULL CHECK (is_expired IN (0, 1)),
    dispose_ms INTEGER,
    annotation TEXT,
    question TEXT NOT NULL, assignment_policy TEXT, hit_policy TEXT, review_ms INTEGER,
    CHECK (accepted + submitted + approved + rejected <= max_assignments)
) STRICT;
INSERT INTO "hits" VALUES(1,'3XZBVTS4XN7MZKURMBUK3V29V8Z6UO',1,1,'Reviewable',2,0,0,2,0,100,20,0,1767603600000,1768208400000,0,1777972183131,'piecework rehearsal small 3/small.b0001.r00.000001','<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<p>left out</p>]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>',NULL,NULL,NULL);
INSERT INTO "hits" VALUES(2,'3BP9RHB2GZMTIARQOS6226DOLHAPR6',1,1,'Reviewable',2,0,2,0,0,100,20,240,1767604183131,1768208983131,0,1777972379770,'piecework rehearsal small 3/small.b0002.r00.000001','<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">
<HTMLContent><![CDATA[<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Describe pictures taken by people who are blind</title>
<link rel="icon" href="data:,">
<style>
:root{
--ink: #1c2430;--soft: #525d6b;--line: #d5dae1;--field: #7d8896;--paper: #fff;
--ground: #f4f6f8;--accent: #1a5fb4;--accent-deep: #134a8e;--tint: #eaf2fb;
--fault: #a51d2d;--fault-tint: #fdf0f0;--good: #1b6b3a;
}
*{box-sizing: border-box;}
[hidden]{display: none !important;}
html{color-scheme: light;-webkit-text-size-adjust: 100%;}
body{
margin: 0;background: var(--ground);color: var(--ink);
font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main{max-width: 1180px;margin: 0 auto;padding: 24px 24px 40px;}
h1, h2, p, ul, fieldset{margin: 0;padding: 0;}
h1{font-size: 1.25rem;line-height: 1.3;font-weight: 650;}
h2{font-size: 1rem;font-weight: 600;color: var(--soft);margin-bottom: 12px;}
h2:focus{outline: none;}
.top{display: flex;gap: 8px 24px;align-items: center;justify-content: space-between;flex-wrap: wrap;margin-bottom: 16px;}
.dots{display: flex;gap: 6px;}
.dots span{width: 28px;height: 6px;border-radius: 3px;background: var(--line);}
.dots .done{background: #8fb3df;}
.dots .now{background: var(--accent);}
.unseen{position: absolute;width: 1px;height: 1px;overflow: hidden;clip-path: inset(50%);white-space: nowrap;}
.notice{padding: 12px 16px;margin-bottom: 16px;border-radius: 10px;border: 1px solid #b9d0ec;background: var(--tint);}
.notice.warning{border-color: #e6c87a;background: #fff7e0;}
.columns{display: grid;grid-template-columns: minmax(0, 1.1fr) minmax(0, 1fr);gap: 28px;align-items: start;}
.left{position: sticky;top: 16px;}
.right{background: var(--paper);border: 1px solid var(--line);border-radius: 14px;padding: 24px;}
.viewer{position: relative;background: var(--paper);border: 1px solid var(--line);border-radius: 14px;padding: 12px;}
.frame{height: clamp(280px, 58vh, 620px);overflow: auto;display: flex;background: #e9ecf0;border-radius: 8px;}
.stage{position: relative;flex: none;margin: auto;}
.stage img{position: absolute;left: 50%;top: 50%;max-width: none;display: block;user-select: none;}
.lost{height: clamp(280px, 58vh, 620px);display: flex;flex-direction: column;gap: 16px;align-items: center;justify-content: center;text-align: center;padding: 24px;background: #e9ecf0;border-radius: 8px;}
.lost p{max-width: 34ch;}
.tools{display: grid;grid-template-columns: repeat(4, 1fr);gap: 8px;margin-top: 12px;}
.tools button{display: flex;align-items: center;justify-content: center;gap: 4px;padding: 8px 2px;font-size: .85rem;white-space: nowrap;}
.tools svg{width: 18px;height: 18px;flex: none;fill: none;stroke: currentColor;stroke-width: 1.8;stroke-linecap: round;stroke-linejoin: round;}
.viewer > .hint{text-align: center;margin-top: 8px;}
.instructions{margin-bottom: 24px;padding-bottom: 20px;border-bottom: 1px solid var(--line);font-size: .95rem;}
.instructions:has(details:not([open])){padding-bottom: 12px;margin-bottom: 18px;}
summary{font-weight: 650;cursor: pointer;padding: 4px 0;border-radius: 6px;}
.instructions ul{list-style: none;margin-top: 8px;}
.instructions li{position: relative;padding-left: 26px;margin-bottom: 6px;}
.instructions li::before{position: absolute;left: 2px;font-weight: 700;}
.do li::before{content: "\2713";color: var(--good);}
.do-not li::before{content: "\2715";color: var(--fault);}
.instructions .plain{padding-left: 0;}
.instructions .plain li{padding-left: 0;}
.instructions .above{margin-top: 12px;}
.instructions .plain li::before{content: none;}
.quoted{font-size: 1.15rem;line-height: 1.45;margin-bottom: 20px;padding: 12px 16px;background: var(--ground);border-left: 4px solid var(--accent);border-radius: 0 8px 8px 0;overflow-wrap: anywhere;}
.quoted-name{display: block;font-size: .8rem;font-weight: 600;color: var(--soft);}
.kind strong, .kind .hint{display: block;margin: 0;}
.difference{margin-top: 12px;padding: 10px 12px;border: 1px dashed var(--field);border-radius: 8px;overflow-wrap: anywhere;}
.difference del{color: var(--fault);background: var(--fault-tint);text-decoration: line-through 2px;}
.difference ins{color: var(--good);background: #e8f5ec;font-weight: 650;text-decoration: underline 2px;text-underline-offset: 3px;}
.kind strong, .kind .hint{display: block;margin: 0;}
.difference{margin-top: 12px;padding: 10px 12px;border: 1px dashed var(--field);border-radius: 8px;overflow-wrap: anywhere;}
.difference del{color: var(--fault);background: var(--fault-tint);text-decoration: line-through 2px;}
.difference ins{color: var(--good);background: #e8f5ec;font-weight: 650;text-decoration: underline 2px;text-underline-offset: 3px;}
.prose h3{margin: 0 0 4px;}
.prose p{white-space: pre-line;}
.right .prose{font-size: 1rem;line-height: 1.5;}
.side{border-left-color: #8a5a00;}
.instructions ol{margin: 8px 0 0;padding-left: 22px;}
.instructions ol li{padding-left: 4px;}
.instructions > details + details{margin-top: 6px;}
.grades .options{grid-template-columns: repeat(5, minmax(0, 1fr));}
.grades .options label{flex-direction: column;gap: 6px;justify-content: flex-start;padding: 10px 4px;text-align: center;font-size: .9rem;}
.quoted.right-one{border-left-color: var(--good);}
.sheet{max-width: 760px;background: var(--paper);border: 1px solid var(--line);border-radius: 14px;padding: 24px 28px;}
.sheet > :is(p, ol, ul):not(:last-child){margin-bottom: 16px;}
.sheet :is(ol, ul){padding-left: 24px;}
.step:not([hidden]):has(.sheet) ~ .steps{max-width: 760px;}
.sheet li{margin-bottom: 6px;}
.sheet h3{margin: 0 0 8px;font-size: 1rem;}
.sheet > .field{margin-top: 24px;}
.sheet > .field:last-child{margin-bottom: 0;}
.right > .slider + [data-instructions] .instructions{margin-bottom: 0;padding-bottom: 0;border-bottom: 0;}
.sheet > .quoted{margin-bottom: 12px;}
.sheet .points{margin-bottom: 16px;padding-left: 22px;}
.section-name{font-size: .875rem;font-weight: 600;color: var(--soft);margin-bottom: 8px;}
.asked{font-weight: 650;}
.shown{display: block;width: 100%;max-width: 480px;height: auto;margin-bottom: 16px;border-radius: 8px;}
.instructions .points{padding-left: 0;margin-top: 6px;}
.instructions .points li::before{content: "\2022";}
.sheet > .hint + [data-instructions]:not(:empty){margin-top: 20px;padding-top: 16px;border-top: 1px solid var(--line);}
.sheet > .hint + [data-instructions] .instructions{margin-bottom: 0;padding-bottom: 0;border-bottom: 0;}
.right h3{margin: 0;font-size: 1rem;line-height: 1.4;font-weight: 650;}
.example svg{display: block;width: 100%;height: auto;border-radius: 8px;}
.graded{list-style: none;margin: 8px 0 0;padding: 0;font-size: .95rem;}
.graded li{padding: 8px 12px;margin-bottom: 8px;border-left: 4px solid var(--field);background: var(--ground);border-radius: 0 8px 8px 0;}
.graded li:is(.very_good, .good){border-color: var(--good);}
.graded li:is(.bad, .very_bad){border-color: var(--fault);}
.graded p{color: var(--soft);}
.graded .said{color: var(--ink);font-weight: 600;}
.graded strong{color: var(--ink);}
.right > .hint.keys + [data-instructions]:not(:empty){margin-top: 20px;padding-top: 16px;border-top: 1px solid var(--line);}
.right > .hint.keys + [data-instructions] .instructions{margin-bottom: 0;padding-bottom: 0;border-bottom: 0;}
.group{margin-bottom: 14px;}
.group-name{font-weight: 600;font-size: .9rem;color: var(--soft);margin-bottom: 6px;}
.options.scale{grid-template-columns: repeat(auto-fit, minmax(64px, 1fr));}
.ends{display: flex;justify-content: space-between;gap: 16px;font-size: .875rem;color: var(--soft);margin-top: 6px;}
input[type=range]{width: 100%;height: 44px;margin: 0;accent-color: var(--accent);cursor: pointer;}
input.untouched{appearance: none;border-radius: 4px;background: linear-gradient(var(--line), var(--line)) center / 100% 8px no-repeat;}
input.untouched::-webkit-slider-thumb{opacity: 0;}
input.untouched::-moz-range-thumb{opacity: 0;}
.field{margin: 0 0 24px;border: 0;min-width: 0;}
.field.inner{margin: 14px 0 0;}
.right > .field:last-child{margin-bottom: 0;}
.field > label, legend, #closing label{display: block;font-weight: 650;margin-bottom: 8px;padding: 0;}
.optional{font-weight: 400;color: var(--soft);}
textarea, input[type=text]{
width: 100%;font: inherit;color: inherit;background: var(--paper);padding: 10px 12px;
border: 1px solid var(--field);border-radius: 8px;
}
textarea{resize: vertical;display: block;}
[aria-invalid=true]:is(textarea, input[type=text]){border-color: var(--fault);box-shadow: 0 0 0 1px var(--fault);}
.hint{font-size: .875rem;color: var(--soft);margin-top: 6px;}
.hint.enough{color: var(--good);}
.hint.beyond{color: var(--fault);font-weight: 600;}
.faults span{display: block;margin-top: 8px;padding: 8px 12px;border-left: 3px solid var(--fault);border-radius: 0 8px 8px 0;background: var(--fault-tint);color: var(--fault);font-size: .925rem;}
.options{display: grid;gap: 8px;grid-template-columns: repeat(2, minmax(0, 1fr));}
.one-column .options{grid-template-columns: minmax(0, 1fr);}
@media (pointer: coarse){.hint.keys{display: none;}}
.options + .options{margin-top: 8px;}
.options label{display: flex;gap: 10px;align-items: center;min-height: 44px;padding: 6px 12px;border: 1px solid var(--line);border-radius: 8px;line-height: 1.3;cursor: pointer;}
.options label:hover{border-color: var(--field);}
.options label:has(:checked){border-color: var(--accent);background: var(--tint);}
.options input{width: 18px;height: 18px;margin: 0;flex: none;accent-color: var(--accent);}
button{
font: inherit;font-weight: 550;min-height: 44px;padding: 8px 18px;color: var(--ink);
background: var(--paper);border: 1px solid var(--field);border-radius: 8px;cursor: pointer;
}
button:hover:enabled{background: var(--ground);}
button.main{color: #fff;background: var(--accent);border-color: var(--accent);}
button.main:hover:enabled{background: var(--accent-deep);}
button:disabled{opacity: .5;cursor: default;}
.canned{width: 100%;background: #e9eef5;padding: 8px 12px;margin-top: 6px;font-size: .85rem;font-weight: 550;text-align: left;}
.field > .hint:has(+ .canned){margin-top: 14px;}
:is(button, summary, textarea, input, .frame):focus-visible{outline: 3px solid #f0a500;outline-offset: 2px;box-shadow: 0 0 0 2px var(--ink);}
#closing{margin-top: 24px;background: var(--paper);border: 1px solid var(--line);border-radius: 14px;padding: 20px 24px 24px;}
.steps{display: flex;gap: 12px;align-items: center;justify-content: space-between;margin-top: 24px;}
.steps-note{color: var(--soft);}
.steps button{min-width: 120px;}
footer{margin-top: 32px;padding-top: 16px;border-top: 1px solid var(--line);color: var(--soft);font-size: .875rem;max-width: 75ch;}
@media (max-width: 860px){
main{padding: 16px 12px 32px;}
.columns{grid-template-columns: minmax(0, 1fr);gap: 16px;}
.left{position: static;}
.right, .sheet, #closing{padding: 18px 16px;}
.frame, .lost{height: clamp(240px, 44vh, 420px);}
}
@media (max-width: 480px){
.grades .options{grid-template-columns: minmax(0, 1fr);}
.grades .options label{flex-direction: row;gap: 10px;padding: 6px 10px;text-align: left;font-size: 1rem;}
.tools button{flex-direction: column;gap: 2px;font-size: .8rem;}
.steps button{min-width: 96px;}
.steps-note{display: none;}
.options label{padding: 6px 10px;}
}
</style>
<script>
const pieceworkLost = new Set();
document.addEventListener("error", (event) => {
if (event.target instanceof HTMLImageElement) pieceworkLost.add(event.target);
}, true);
</script>
</head>
<body>
<main>
<header class="top">
  <h1>Describe pictures taken by people who are blind</h1>
  <p class="dots" aria-hidden="true"></p>
</header>

<noscript><p class="notice warning">This page needs JavaScript. Please switch it on and load the page again, or return the HIT.</p></noscript>
<p class="notice warning" id="notice-preview" hidden><strong>This is a preview.</strong> Look at everything with Next and Back; accept the HIT to answer and submit it.</p>
<p class="notice warning" id="notice-address" hidden><strong>This page cannot be submitted from here:</strong> it was opened without the address that takes the answers. Please open the HIT again from the list of HITs.</p>
<p class="notice" id="notice-drafts" hidden>Your browser does not keep drafts for this page. Please do not reload it before you submit.</p>
<form id="work" method="post" accept-charset="utf-8" autocomplete="off" novalidate>
<input type="hidden" name="assignmentId" value="">
<div id="instructions" class="instructions">
<details open>
<summary>How to describe a picture</summary>
<ul class="do">
<li>Describe <strong>all parts of the picture that may be important to a person who is blind</strong>.</li>
<li>Write <strong>one sentence of at least 8 words</strong>, and begin with what the picture shows, like “A red mug …”.</li>
<li>If there is text and it matters, say in your own words what it says.</li>
</ul>
<ul class="do-not">
<li>Do <strong>not</strong> begin with “There is”, “This is”, “The image”, “It is” or the like.</li>
<li>Do <strong>not</strong> describe the quality of the photo. There is a question about that below.</li>
<li>Do <strong>not</strong> use all the words that you can read in the picture as your description.</li>
<li>Do <strong>not</strong> guess what people say or think, or what happened before or after.</li>
</ul>
</details>
</div>
<section class="step item" data-position="1" aria-labelledby="heading-1" hidden>
<h2 id="heading-1" tabindex="-1">Image 1 of 2</h2>
<input type="hidden" name="item.1" value="scene_0004">
<input type="hidden" name="shown_ms.1" value="0">
<input type="hidden" name="pastes.1" value="0">
<input type="hidden" name="keystrokes.1" value="0">
<input type="hidden" name="focus_losses.1" value="0">
<div class="columns">
<div class="left">
<div class="viewer" data-viewer>
<div class="frame" tabindex="0" role="group" aria-label="Picture 1. Keys: plus and minus zoom, R rotates, 0 resets, arrows move.">
<div class="stage"><img src="/pictures/scene_0004.svg" alt="The picture to describe" draggable="false"></div>
</div>
<div class="lost" role="alert" hidden>
<p><strong>This picture did not load.</strong> If trying again does not help, use the button for pictures that cannot be recognized, below the text box.</p>
<button type="button" data-view="retry">Try again</button>
</div>
<div class="tools">
<button type="button" data-view="out"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M5 10h10"/></svg>Zoom out</button>
<button type="button" data-view="in"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M5 10h10M10 5v10"/></svg>Zoom in</button>
<button type="button" data-view="turn"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M15.5 10a5.5 5.5 0 1 1-1.8-4M14 2.5V6.3h-3.8"/></svg>Rotate</button>
<button type="button" data-view="reset"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M4 8V4h4M16 12v4h-4M12 4h4v4M8 16H4v-4"/></svg>Reset</button>
</div>
<p class="hint" data-view-state role="status">Whole picture</p>
</div>
</div>
<div class="right">
<div data-instructions></div>
<div class="field">
<label for="caption-1">Describe this picture in one sentence</label>
<textarea id="caption-1" name="caption.1" rows="4" spellcheck="true" aria-describedby="count-caption-1 faults-caption-1"></textarea>
<p class="hint" id="count-caption-1" data-counts="caption.1" data-minimum="8">0 of at least 8 words</p>
<p class="faults" id="faults-caption-1" role="alert"></p>
<p class="hint">If you cannot recognize anything, press this button instead of writing:</p>
<button type="button" class="canned" data-fills="caption.1" data-text="Quality issues are too severe to recognize visual content." data-undo="Bring back what I wrote">Quality issues are too severe to recognize visual content.</button>

</div><fieldset class="field" id="has_text-1" role="radiogroup" aria-describedby="faults-has_text-1">
<legend>Is there text in the picture?</legend>
<div class="options radio">
<label><input type="radio" name="has_text.1" value="yes"><span>Yes</span></label>
<label><input type="radio" name="has_text.1" value="no"><span>No</span></label>
</div>

<p class="faults" id="faults-has_text-1" role="alert"></p>

</fieldset>
<fieldset class="field" id="flaws-1" aria-describedby="faults-flaws-1" data-exclusive="none">
<legend>What is wrong with the photo? Tick all that apply.</legend>
<div class="options checkbox">
<label><input type="checkbox" name="flaws.1" value="blur"><span>Blurry</span></label>
<label><input type="checkbox" name="flaws.1" value="bright"><span>Too bright</span></label>
<label><input type="checkbox" name="flaws.1" value="dark"><span>Too dark</span></label>
<label><input type="checkbox" name="flaws.1" value="obscured"><span>Something is in the way</span></label>
<label><input type="checkbox" name="flaws.1" value="framing"><span>Main thing is cut off</span></label>
<label><input type="checkbox" name="flaws.1" value="rotation"><span>Needs to be rotated</span></label>
<label><input type="checkbox" name="flaws.1" value="other"><span>Something else</span></label>
<label><input type="checkbox" name="flaws.1" value="none"><span>Nothing is wrong</span></label>
</div>

<p class="faults" id="faults-flaws-1" role="alert"></p>
<div class="field inner" data-shown-with="flaws.1=other" hidden>
<label for="flaw_other-1">What else is wrong with the photo?</label>
<input type="text" id="flaw_other-1" name="flaw_other.1" aria-describedby="faults-flaw_other-1">
<p class="faults" id="faults-flaw_other-1" role="alert"></p>
</div>

</fieldset></div>
</div>
</section>
<section class="step item" data-position="2" aria-labelledby="heading-2" hidden>
<h2 id="heading-2" tabindex="-1">Image 2 of 2</h2>
<input type="hidden" name="item.2" value="scene_0003">
<input type="hidden" name="shown_ms.2" value="0">
<input type="hidden" name="pastes.2" value="0">
<input type="hidden" name="keystrokes.2" value="0">
<input type="hidden" name="focus_losses.2" value="0">
<div class="columns">
<div class="left">
<div class="viewer" data-viewer>
<div class="frame" tabindex="0" role="group" aria-label="Picture 2. Keys: plus and minus zoom, R rotates, 0 resets, arrows move.">
<div class="stage"><img src="/pictures/scene_0003.svg" alt="The picture to describe" draggable="false"></div>
</div>
<div class="lost" role="alert" hidden>
<p><strong>This picture did not load.</strong> If trying again does not help, use the button for pictures that cannot be recognized, below the text box.</p>
<button type="button" data-view="retry">Try again</button>
</div>
<div class="tools">
<button type="button" data-view="out"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M5 10h10"/></svg>Zoom out</button>
<button type="button" data-view="in"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M5 10h10M10 5v10"/></svg>Zoom in</button>
<button type="button" data-view="turn"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M15.5 10a5.5 5.5 0 1 1-1.8-4M14 2.5V6.3h-3.8"/></svg>Rotate</button>
<button type="button" data-view="reset"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M4 8V4h4M16 12v4h-4M12 4h4v4M8 16H4v-4"/></svg>Reset</button>
</div>
<p class="hint" data-view-state role="status">Whole picture</p>
</div>
</div>
<div class="right">
<div data-instructions></div>
<div class="field">
<label for="caption-2">Describe this picture in one sentence</label>
<textarea id="caption-2" name="caption.2" rows="4" spellcheck="true" aria-describedby="count-caption-2 faults-caption-2"></textarea>
<p class="hint" id="count-caption-2" data-counts="caption.2" data-minimum="8">0 of at least 8 words</p>
<p class="faults" id="faults-caption-2" role="alert"></p>
<p class="hint">If you cannot recognize anything, press this button instead of writing:</p>
<button type="button" class="canned" data-fills="caption.2" data-text="Quality issues are too severe to recognize visual content." data-undo="Bring back what I wrote">Quality issues are too severe to recognize visual content.</button>

</div><fieldset class="field" id="has_text-2" role="radiogroup" aria-describedby="faults-has_text-2">
<legend>Is there text in the picture?</legend>
<div class="options radio">
<label><input type="radio" name="has_text.2" value="yes"><span>Yes</span></label>
<label><input type="radio" name="has_text.2" value="no"><span>No</span></label>
</div>

<p class="faults" id="faults-has_text-2" role="alert"></p>

</fieldset>
<fieldset class="field" id="flaws-2" aria-describedby="faults-flaws-2" data-exclusive="none">
<legend>What is wrong with the photo? Tick all that apply.</legend>
<div class="options checkbox">
<label><input type="checkbox" name="flaws.2" value="blur"><span>Blurry</span></label>
<label><input type="checkbox" name="flaws.2" value="bright"><span>Too bright</span></label>
<label><input type="checkbox" name="flaws.2" value="dark"><span>Too dark</span></label>
<label><input type="checkbox" name="flaws.2" value="obscured"><span>Something is in the way</span></label>
<label><input type="checkbox" name="flaws.2" value="framing"><span>Main thing is cut off</span></label>
<label><input type="checkbox" name="flaws.2" value="rotation"><span>Needs to be rotated</span></label>
<label><input type="checkbox" name="flaws.2" value="other"><span>Something else</span></label>
<label><input type="checkbox" name="flaws.2" value="none"><span>Nothing is wrong</span></label>
</div>

<p class="faults" id="faults-flaws-2" role="alert"></p>
<div class="field inner" data-shown-with="flaws.2=other" hidden>
<label for="flaw_other-2">What else is wrong with the photo?</label>
<input type="text" id="flaw_other-2" name="flaw_other.2" aria-describedby="faults-flaw_other-2">
<p class="faults" id="faults-flaw_other-2" role="alert"></p>
</div>

</fieldset></div>
</div>
</section>
<section id="closing" aria-label="Comments" hidden>
<label for="comment">Anything you want to tell us? <span class="optional">(optional)</span></label>
<textarea id="comment" name="comment" rows="2"></textarea>
</section>
<div class="steps">
<button type="button" id="back">Back</button>
<p id="steps-note" class="steps-note"></p>
<button type="button" id="next" class="main">Next</button>
<button type="button" id="send" class="main" hidden>Submit</button>
</div>
<p id="said" class="unseen" role="status"></p>
</form>
<footer>
<p><strong>What this page measures.</strong> How long each image is shown to you, how many keys you press and how often you paste in its text boxes, and how often you leave the page. It does not record which keys you press. The numbers are sent with your answers, to tell careful work from automated work. Your draft stays in this browser until you submit.</p>
</footer>
</main>
<script type="application/json" id="page-data">{"task":"caption","version":1,"measures":["shown_ms","pastes","keystrokes","focus_losses"],"characters":{"spaces":"\t-\r\u001c- \u0085\u00a0\u115f\u1160\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\uffa0","invisible":"\u0000-\b\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\udb40\udc00-\udb43\udfff","symbols":"!-/:-@\\[-`{-~\u00a1-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u02b9-\u02df\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3001-\u3003\u3008-\u3020\u3030\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffc\ufffd\ud83c\udc00-\ud83e\udfff","apostrophes":"\u0027`\u00b4\u02b9\u02bb\u02bc\u2018\u2019\u201b\u2032\uff07","double_quotes":"\"\u201c-\u201f\u00ab\u00bb\u2033\uff02","hyphens":"\\-\u2010\u2011","breaks":" ,.;\u2014\u2026"},"most_dots":12,"texts":{"noun":"Image","heading":"{noun} {n} of {total}","next":"Next","submit":"Submit","sending":"Sending \u2026","accept_first":"Accept the HIT to submit","words_counted":"{count} of at least {minimum} words","characters_counted":"{count} of at most {maximum} characters","is_back":"Your own text is back.","now_says":"The text box now says: {text}","chosen_value":"your answer: {value}","whole_picture":"Whole picture","zoomed":"Zoomed to {percent} %","turned":", turned by {degrees}\u00b0","next_noun":"Next image"},"fields":[{"name":"caption","kind":"text"},{"name":"has_text","kind":"choice"},{"name":"flaws","kind":"choices"},{"name":"flaw_other","kind":"text"}],"arrangements":[],"shuffles":false,"groups":[],"items":[{"id":"scene_0004","columns":{}},{"id":"scene_0003","columns":{}}],"rules":[{"name":"caption_required","kind":"required","field":"caption","parameters":{},"message":"Please describe the picture. If you cannot recognize anything, use the button below the text box."},{"name":"caption_min_words","kind":"min_words","field":"caption","parameters":{"minimum":8},"message":"Please write at least 8 words, so that somebody who cannot see the picture learns what it shows."},{"name":"caption_max_length","kind":"max_length","field":"caption","parameters":{"maximum":1000},"message":"Please keep it under 1,000 characters: one sentence is enough."},{"name":"caption_one_sentence","kind":"one_sentence","field":"caption","parameters":{"abbreviations":["mr","mrs","ms","dr","prof","rev","jr","sr","st","mt","ft","gen","sgt","capt","ave","blvd","rd","hwy","apt","ste","bldg","inc","ltd","corp","co","bros","dept","vs","etc","approx","est","misc","vol","pg","ed","oz","fl","lb","lbs","pkg","pk","ct","qt","pt","gal","tsp","tbsp","tbs","yd","yds","cm","mm","kg","mg","ml","hr","hrs","sq","temp","serv","mon","tue","tues","wed","thu","thur","thurs","fri","jan","feb","apr","jun","jul","aug","sep","sept","oct","nov","dec"],"before_number":["no","nos","fig","pp","art","ch","max","min","may","sec"],"after_number":["in","ins","min","mins","sec","secs","am","pm","mi","cal","cals","deg"],"names":["yahoo","jeopardy","wham","ahoy","yum","uno","bam"]},"message":"Please make it one sentence: join the parts with a comma or with \u201cand\u201d."},{"name":"caption_banned_prefix","kind":"banned_prefixes","field":"caption","parameters":{"prefixes":["There is","There are","This is","These are","The image","The picture","This image","This picture","It is","It\u0027s"]},"message":"Please begin with what the picture shows (\u201cA red mug \u2026\u201d), not with \u201cThere is\u201d, \u201cThis is\u201d, \u201cThe image\u201d, \u201cIt is\u201d or the like."},{"name":"has_text_required","kind":"required","field":"has_text","parameters":{},"message":"Please say whether the picture shows any text."},{"name":"flaws_required","kind":"required","field":"flaws","parameters":{},"message":"Please tick what is wrong with the photo, or \u201cNothing is wrong\u201d."},{"name":"flaws_none_alone","kind":"exclusive_option","field":"flaws","parameters":{"option":"none"},"message":"\u201cNothing is wrong\u201d cannot be ticked together with something else."},{"name":"flaw_other_required","kind":"text_with_option","field":"flaw_other","parameters":{"chosen_in":"flaws","option":"other"},"message":"Please say in a few words what else is wrong with the photo."},{"name":"flaw_other_max_length","kind":"max_length","field":"flaw_other","parameters":{"maximum":200},"message":"Please keep it under 200 characters."}]}</script>
<script>
const pieceworkRules = (characters) => {
const noWord = characters.spaces + characters.symbols;
const letter = `[^${noWord}]`;
const re = (source, flags = "") => new RegExp(source, "u" + flags);
const invisible = re(`[${characters.invisible}]`, "g");
const spaces = re(`[${characters.spaces}]+`, "g");
const letters = re(letter);
const symbolsFirst = re(`^[${noWord}]+`);
const breaks = re(`[${characters.breaks}]+`);
const pointInNumber = re("([0-9])[.,](?=[0-9])", "g");
const pointedLetters = re(`(^|[${noWord}])((?:${letter}\\.)+${letter}?)(?=$|[${noWord}])`, "g");
const quote = `[${characters.double_quotes}]`;
const quoted = re(`${quote}[^${characters.double_quotes}]*${quote}`, "g");
const apostrophes = re(`[${characters.apostrophes}]`, "g");
const closersLast = re(`[)\\]\\}*${characters.double_quotes}${characters.apostrophes}]+$`);
const lastPieceOf = re(`(?:${letter}|'')+$`);
const number = re("^[0-9][0-9.,/]*");
const wordEnds = re(`^(?:$|(?![${characters.hyphens}])[${noWord}])`);
const plain = (text) =>
text.replace(invisible, "").normalize("NFC").replace(spaces, " ").replace(/^ +| +$/g, "");
const words = (text) =>
plain(text)
.replace(pointInNumber, "$1")
.replace(pointedLetters, (_, before, run) => before + run.split(".").join(""))
.split(breaks)
.filter((piece) => letters.test(piece));
const folded = (text) => plain(text).replace(apostrophes, "''").toLowerCase();
const beginsWith = (text, beginning) => {
const opening = folded(plain(text).replace(symbolsFirst, ""));
const sought = folded(beginning);
if (!opening.startsWith(sought)) return false;
return wordEnds.test(Array.from(opening.slice(sought.length))[0] || "");
};
const withoutQuotes = (text) =>
letters.test(text.replace(quoted, " ")) ? text.replace(quoted, "quoted") : text;
const lastPiece = (token) => {
const found = token.replace(apostrophes, "''").match(lastPieceOf);
return found ? found[0].toLowerCase() : "";
};
const nextWord = (tokens, i) =>
tokens.slice(i + 1).find((token) => letters.test(token)).replace(symbolsFirst, "");
const isCapital = (word) => {
const first = Array.from(word)[0];
return first !== first.toLowerCase();
};
const isAbbreviation = (tokens, i, word, points) => {
const piece = lastPiece(word);
const unit = piece.replace(number, "");
const afterNumber = unit !== piece || (i > 0 && number.test(tokens[i - 1]));
const beforeNumber = number.test(nextWord(tokens, i));
return (
Array.from(unit).length === 1 ||
points.abbreviations.includes(unit) ||
(afterNumber && points.after_number.includes(unit)) ||
(beforeNumber && points.before_number.includes(unit))
);
};
const endsSentence = (tokens, i, points) => {
const token = tokens[i].replace(closersLast, "");
if (token.endsWith(".") && !token.endsWith("..")) {
return !isAbbreviation(tokens, i, token.slice(0, -1), points);
}
if (/[!?]$/.test(token)) {
const name = lastPiece(token.replace(/[!?]+$/, ""));
return !points.names.includes(name) && isCapital(nextWord(tokens, i));
}
return false;
};
const isOneSentence = (text, points) => {
const tokens = withoutQuotes(plain(text)).split(" ");
let last = 0;
tokens.forEach((token, i) => { if (letters.test(token)) last = i; });
return !tokens.slice(0, last).some((_, i) => endsSentence(tokens, i, points));
};
const chosen = (value) => (Array.isArray(value) ? value : value ? [value] : []);
const textOf = (value) => {
if (typeof value === "number") return String(value);
return plain(Array.isArray(value) ? value.join(" ") : value || "");
};
const required = (values, rule) => textOf(values[rule.field]) !== "";
const around = re(`^[${noWord}]+|[${noWord}]+$`, "g");
const compared = (text) => words(text).map((word) => word.replace(around, "").toLowerCase());
const runs = (before, after) => {
const common = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
for (let i = before.length - 1; i >= 0; i -= 1) {
for (let j = after.length - 1; j >= 0; j -= 1) {
common[i][j] = before[i] === after[j]
? common[i + 1][j + 1] + 1
: Math.max(common[i + 1][j], common[i][j + 1]);
}
}
const found = [];
let open = null;
let [i, j] = [0, 0];
while (i < before.length || j < after.length) {
if (i < before.length && j < after.length && before[i] === after[j]) {
found.push({ kept: [i, j] });
open = null;
i += 1;
j += 1;
continue;
}
if (!open) {
open = { removed: [], inserted: [] };
found.push(open);
}
if (i < before.length && common[i + 1][j] === common[i][j]) open.removed.push(i++);
else open.inserted.push(j++);
}
return found;
};
const changes = (before, after) => {
const [old, now] = [compared(before), compared(after)];
return runs(old, now).filter((run) => !run.kept).map((run) => ({
removed: run.removed.map((i) => old[i]), inserted: run.inserted.map((j) => now[j]),
}));
};
const columnOf = (columns, name) => columns[name] || "";
const kinds = {
required,
edited_with_option: (values, rule, columns) => {
const options = chosen(values[rule.parameters.chosen_in]);
const text = textOf(values[rule.field]);
if (!options.length || text === "") return true;
const isSame = plain(columnOf(columns, rule.parameters.column)) === text;
return options.includes(rule.parameters.option) !== isSame;
},
few_words_changed: (values, rule, columns) => {
const text = textOf(values[rule.field]);
const found = changes(columnOf(columns, rule.parameters.column), text);
return text === "" || found.reduce((sum, { removed, inserted }) =>
sum + Math.max(removed.length, inserted.length), 0) <= rule.parameters.maximum;
},
words_within: (values, rule, columns) => {
const text = textOf(values[rule.field]);
const { among, groups, column, where } = rule.parameters;
if (text === "" || !among.includes(columnOf(columns, where))) return true;
const sets = groups.map((group) => group.split(" "));
return changes(columnOf(columns, column), text).every(({ removed, inserted }) =>
removed.length === inserted.length && removed.every((word, i) =>
sets.some((some) => some.includes(word) && some.includes(inserted[i]))));
},
min_words: (values, rule) => {
const text = textOf(values[rule.field]);
return text === "" || words(text).length >= rule.parameters.minimum;
},
max_length: (values, rule) =>
Array.from(textOf(values[rule.field])).length <= rule.parameters.maximum,
one_sentence: (values, rule) => isOneSentence(textOf(values[rule.field]), rule.parameters),
banned_prefixes: (values, rule) =>
!rule.parameters.prefixes.some((prefix) => beginsWith(textOf(values[rule.field]), prefix)),
exclusive_option: (values, rule) => {
const options = chosen(values[rule.field]);
return !options.includes(rule.parameters.option) || new Set(options).size === 1;
},
text_with_option: (values, rule) =>
!chosen(values[rule.parameters.chosen_in]).includes(rule.parameters.option) ||
required(values, rule),
most_chosen: (values, rule) =>
new Set(chosen(values[rule.field])).size <= rule.parameters.maximum,
must_choose: (values, rule) =>
chosen(values[rule.field]).includes(rule.parameters.option),
};
return {
words,
runs,
length: (text) => Array.from(textOf(text)).length,
check: (rules, values, columns) =>
rules.filter((rule) => !kinds[rule.kind](values, rule, columns || {})),
};
};
const pieceworkOrder = (assignmentId) => {
const rank = (what, name) => {
let hashed = 0x811c9dc5;
for (const byte of new TextEncoder().encode(`${assignmentId}|${what}|${name}`)) {
hashed = Math.imul(hashed ^ byte, 0x01000193);
}
hashed ^= hashed >>> 16;
hashed = Math.imul(hashed, 0x85ebca6b);
hashed ^= hashed >>> 13;
hashed = Math.imul(hashed, 0xc2b2ae35);
return (hashed ^ (hashed >>> 16)) >>> 0;
};
const points = (text) => Array.from(text, (sign) => sign.codePointAt(0));
const compare = (one, other) => {
if (typeof one === "number") return one - other;
const [a, b] = [points(one), points(other)];
const at = a.findIndex((point, i) => point !== b[i]);
if (at < 0) return a.length - b.length;
return at < b.length ? a[at] - b[at] : 1;
};
const sortedBy = (things, key) => things
.map((thing) => ({ thing, keys: key(thing) }))
.sort((one, other) => one.keys.reduce((so, part, i) => so || compare(part, other.keys[i]), 0))
.map(({ thing }) => thing);
return {
shuffled: (what, names) => sortedBy(names, (name) => [rank(what, name), name]),
items: (itemIds, groups) => sortedBy(itemIds.map((_, i) => i + 1), (n) => {
const itemId = itemIds[n - 1];
const group = groups.length ? groups[n - 1] : itemId;
return [rank("items", group), group, rank("items", `${group}|${itemId}`), itemId];
}),
};
};
const pieceworkDrafts = (assignmentId) => {
const prefix = "piecework.";
const key = `${prefix}${assignmentId}`;
const weekInMs = 7 * 24 * 3600 * 1000;
let kept = true;
const guarded = (access, otherwise) => {
try {
return access();
} catch {
kept = false;
return otherwise;
}
};
return {
isKept: () => kept,
load: () => guarded(() => JSON.parse(window.localStorage.getItem(key) || "null"), null),
save: (draft) => guarded(() => window.localStorage.setItem(
key, JSON.stringify({ ...draft, savedAt: Date.now() }))),
forgetOld: () => guarded(() => Object.keys(window.localStorage)
.filter((name) => name.startsWith(prefix))
.filter((name) => {
const { savedAt } = JSON.parse(window.localStorage.getItem(name)) || {};
return !(Date.now() - savedAt < weekInMs);
})
.forEach((name) => window.localStorage.removeItem(name))),
};
};
const pieceworkMeasures = (names) => {
const counts = {};
let at = 0;
let since = null;
let isAway = false;
const of = (n) => (counts[n] = counts[n] || Object.fromEntries(names.map((name) => [name, 0])));
const settle = () => {
const now = performance.now();
if (at && since !== null) of(at).shown_ms += now - since;
since = document.visibilityState === "visible" ? now : null;
};
const leave = () => {
settle();
if (at && !isAway) of(at).focus_losses += 1;
isAway = true;
};
const comeBack = () => {
settle();
isAway = false;
};
window.addEventListener("pagehide", () => {
settle();
isAway = true; // a reload hides the page, but the worker has not left
});
window.addEventListener("pageshow", comeBack);
window.addEventListener("blur", leave);
window.addEventListener("focus", comeBack);
document.addEventListener("visibilitychange", () =>
document.visibilityState === "visible" ? comeBack() : leave());
const isText = (target) => target.matches("textarea, input[type=text]") && target.closest(".item");
document.addEventListener("keydown", (event) => {
if (at && isText(event.target) && !event.repeat) of(at).keystrokes += 1;
});
document.addEventListener("paste", (event) => {
if (at && isText(event.target)) of(at).pastes += 1;
});
return {
show: (n) => {
settle();
at = n;
},
restore: (stored) => Object.assign(counts, stored),
read: () => {
settle();
return Object.fromEntries(Object.entries(counts).map(([n, measured]) =>
[n, Object.fromEntries(names.map((name) => [name, Math.round(measured[name])]))]));
},
};
};
const pieceworkFields = (form, data, assignmentId) => {
const order = pieceworkOrder(assignmentId);
const controls = (name) => Array.from(form.elements).filter((control) => control.name === name);
const wire = (name, at) => {
if (at === "hit") return `hit.${name}`;
return /^p/.test(at) ? `practice.${name}.${at.slice(1)}` : `${name}.${at}`;
};
const told = (template, words) =>
template.replace(/\{(\w+)\}/g, (_, name) => (name in words ? words[name] : ""));
const isUntouched = (control) => control.classList.contains("untouched");
const touch = (control) => {
control.classList.remove("untouched");
const hint = form.querySelector(`[data-told="${control.name}"]`);
const said = told(data.texts.chosen_value, { value: control.value });
control.setAttribute("aria-valuetext", said);
if (hint) hint.textContent = said;
};
const read = (field, name) => {
const all = controls(name);
if (field.kind === "text") return all.length ? all[0].value : "";
if (all.length && all[0].type === "range") {
return isUntouched(all[0]) ? undefined : Number(all[0].value);
}
const ticked = all.filter((control) => control.checked).map((control) => control.value);
if (field.kind === "choices") return ticked;
return field.kind === "number" && ticked.length ? Number(ticked[0]) : ticked[0];
};
const write = (field, name, value) => controls(name).forEach((control) => {
if (control.type === "range") {
control.value = value;
touch(control);
} else if (field.kind === "text") control.value = value;
else control.checked = [].concat(value).map(String).includes(control.value);
});
const record = (name, names) => {
const [box] = controls(name);
if (box) box.value = names.join("|");
};
const shuffleOptions = (at, itemId) => data.fields.filter((field) => field.shuffled).forEach((field) => {
const blocks = form.querySelectorAll(`[data-position="${at}"] [data-shuffles="${field.name}"]`);
const labels = Array.from(blocks).flatMap((block) => Array.from(block.children));
const names = order.shuffled(
`${field.name}.${itemId}`, labels.map((label) => label.querySelector("input").value));
blocks.forEach((block) => names.forEach((name) => {
const label = labels.find((one) => one.parentNode === block && one.querySelector("input").value === name);
if (label) block.append(label);
}));
record(`order.${field.name}.${at}`, names);
});
const arrange = (at, itemId) => data.arrangements.forEach(({ name, columns }) => {
const names = order.shuffled(`${name}.${itemId}`, columns);
form.querySelectorAll(`[data-position="${at}"] [data-arrange="${name}"]`).forEach((block) => {
names.forEach((column, i) => {
const part = block.querySelector(`[data-part="${column}"]`);
const place = part.querySelector("[data-place]");
if (place) place.textContent = i + 1;
block.append(part);
});
});
record(`order.${name}.${at}`, names);
});
const lay = () => {
const ids = data.items.map((item) => item.id);
ids.forEach((id, i) => {
shuffleOptions(i + 1, id);
arrange(i + 1, id);
});
if (!data.shuffles) return ids.map((_, i) => i + 1);
const positions = order.items(ids, data.groups);
record("order.items", positions);
return positions;
};
const keepExclusive = (target) => {
const group = target.closest("[data-exclusive]");
if (!group || target.type !== "checkbox" || !target.checked) return;
const isAlone = target.value === group.dataset.exclusive;
controls(target.name).forEach((control) => {
if (control !== target && isAlone !== (control.value === group.dataset.exclusive)) {
control.checked = false;
}
});
};
const chooseByKey = (step, event) => {
const digit = Number(event.key);
if (!digit || event.ctrlKey || event.metaKey || event.altKey) return;
if (event.target.matches("textarea, input[type=text]")) return;
const groups = Array.from(step.querySelectorAll("[data-keys]"));
const group = groups.find((one) => one.contains(document.activeElement)) ||
groups.find((one) => !one.querySelector(":checked"));
const chosen = group && group.querySelectorAll("input")[digit - 1];
if (!chosen || chosen.disabled) return;
event.preventDefault();
chosen.focus();
chosen.click();
};
form.addEventListener("input", (event) => {
keepExclusive(event.target);
if (event.target.type === "range") touch(event.target);
});
["click", "keydown"].forEach((kind) => form.addEventListener(kind, (event) => {
const { target } = event;
if (target.type !== "range" || !isUntouched(target) || target.disabled) return;
if (kind === "keydown" && event.key !== "Enter" && event.key !== " ") return;
touch(target);
target.dispatchEvent(new Event("input", { bubbles: true }));
}));
return { controls, wire, told, read, write, lay, isUntouched, chooseByKey };
};
(() => {
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("page-data").textContent);
const { texts } = data;
const rules = pieceworkRules(data.characters);
const query = new URLSearchParams(window.location.search);
const assignmentId = query.get("assignmentId") || "ASSIGNMENT_ID_NOT_AVAILABLE";
const isPreview = assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
const form = $("work");
const { controls, wire, told, read, write, lay, isUntouched, chooseByKey } =
pieceworkFields(form, data, assignmentId);
const drafts = pieceworkDrafts(assignmentId);
const measures = pieceworkMeasures(data.measures);
const setAside = {}; // what stood in a text box before its canned text, by wire name
const asked = new Set(); // questions that were put already, by step and rule
let at = 1;
let isSending = false;
const positions = lay();
const items = positions.map((n) => document.querySelector(`.item[data-position="${n}"]`));
items.slice(1).forEach((item, i) => items[i].after(item));
if (data.shuffles) {
items.forEach((item, i) => {
$(`heading-${item.dataset.position}`).textContent =
told(texts.heading, { noun: texts.noun, n: i + 1, total: items.length });
});
}
const steps = Array.from(document.querySelectorAll(".step"));
const placeOf = (step) => step.dataset.position || "hit";
const submitAddress = () => {
try {
const host = new URL(query.get("turkSubmitTo"));
if (!/^https?:$/.test(host.protocol)) return null;
return host.href.replace(/\/+$/, "") + "/mturk/externalSubmit";
} catch {
return null;
}
};
const address = submitAddress();
const isOpen = !isPreview && address !== null;
const say = (text) => { $("said").textContent = text; };
const fieldsOf = (step) => data.fields
.map((field) => ({ field, at: placeOf(step), name: wire(field.name, placeOf(step)) }))
.filter(({ field }) => step.contains($(`faults-${field.name}-${placeOf(step)}`)));
const all = steps.flatMap(fieldsOf);
const valuesOf = (step) => Object.fromEntries(
fieldsOf(step).map(({ field, name }) => [field.name, read(field, name)]));
const columnsOf = (step) => {
const item = data.items[Number(placeOf(step)) - 1];
return item ? item.columns : {};
};
const draft = () => ({
at,
setAside,
comment: $("comment").value,
measures: measures.read(),
values: Object.fromEntries(all.map(({ field, name }) => [name, read(field, name)])),
});
const save = () => { if (!isPreview && !isSending) drafts.save(draft()); };
const restore = () => {
drafts.forgetOld();
const stored = drafts.load();
if (!stored) return;
all.forEach(({ field, name }) => {
if (stored.values && stored.values[name] != null) write(field, name, stored.values[name]);
});
$("comment").value = stored.comment || "";
Object.assign(setAside, stored.setAside);
measures.restore(stored.measures);
at = Math.min(Math.max(stored.at || 1, 1), steps.length);
};
const tell = (field, place, messages) => {
const line = (message) => {
const span = document.createElement("span");
span.textContent = message;
return span;
};
$(`faults-${field}-${place}`).replaceChildren(...messages.map(line));
const box = $(`${field}-${place}`);
const isGroup = box.matches("fieldset") && !box.matches("[role=radiogroup]");
const marked = isGroup ? controls(wire(field, place)) : [box];
marked.forEach((control) => {
if (messages.length) control.setAttribute("aria-invalid", "true");
else control.removeAttribute("aria-invalid");
});
};
const brokenOf = (step) => {
const here = new Set(fieldsOf(step).map(({ field }) => field.name));
return rules
.check(data.rules.filter((rule) => here.has(rule.field)), valuesOf(step), columnsOf(step))
.filter((rule) => !asked.has(`${placeOf(step)} ${rule.name}`));
};
const messagesOf = (broken, name) =>
broken.filter((rule) => rule.field === name).map((rule) => rule.message);
const holds = (step) => {
const broken = brokenOf(step);
fieldsOf(step).forEach(({ field, at: place }) => tell(field.name, place, messagesOf(broken, field.name)));
broken.filter((rule) => rule.is_question).forEach((rule) => asked.add(`${placeOf(step)} ${rule.name}`));
return broken.length === 0;
};
const lift = (step) => {
const broken = brokenOf(step);
fieldsOf(step).forEach(({ field, at: place }) => {
const shown = Array.from($(`faults-${field.name}-${place}`).children, (line) => line.textContent);
const left = messagesOf(broken, field.name).filter((message) => shown.includes(message));
if (left.length < shown.length) tell(field.name, place, left);
});
};
const goToFault = (step) => {
const [first] = fieldsOf(step).filter(({ field, at: place }) =>
$(`faults-${field.name}-${place}`).children.length);
controls(first.name)[0].focus();
};
const here = () => steps[at - 1];
const show = (number) => {
at = number;
const step = here();
measures.show(isPreview || !/^\d/.test(placeOf(step)) ? 0 : Number(placeOf(step)));
const isLast = number === steps.length;
steps.forEach((one) => { one.hidden = one !== step; });
const slot = step.querySelector("[data-instructions]");
if (slot) slot.append($("instructions"));
$("instructions").hidden = !step.contains($("instructions")) && !step.matches(".item");
document.querySelectorAll("[data-dot]").forEach((dot) => {
dot.className = Number(dot.dataset.dot) < number ? "done" : Number(dot.dataset.dot) === number ? "now" : "";
});
$("back").disabled = number === 1;
$("next").hidden = isLast;
$("next").textContent = step.matches(".item") ? texts.next_noun : texts.next;
$("send").hidden = !isLast;
$("closing").hidden = !isLast;
const heading = step.querySelector("h2");
$("steps-note").textContent = heading.textContent;
return heading;
};
const go = (number) => {
const details = $("instructions").querySelector("details");
if (details && number > at && window.matchMedia("(max-width: 860px)").matches) details.open = false;
const heading = show(number);
save();
window.scrollTo(0, 0);
heading.focus({ preventScroll: true });
};
const next = () => {
if (isPreview || holds(here())) go(at + 1);
else goToFault(here());
};
const submit = () => {
if (!isOpen || isSending) return;
const faulty = steps.filter((step) => !holds(step));
if (faulty.length) {
const step = faulty.includes(here()) ? here() : faulty[0];
if (step !== here()) go(steps.indexOf(step) + 1);
goToFault(step);
return;
}
const measured = measures.read();
items.forEach((item) => data.measures.forEach((name) => {
const n = item.dataset.position;
form.elements[`${name}.${n}`].value = (measured[n] || {})[name] || 0;
}));
form.querySelectorAll("[data-shown-with][hidden] input").forEach((input) => { input.value = ""; });
form.querySelectorAll("input[type=range]").forEach((input) => {
input.disabled = isUntouched(input); // a scale that nobody touched is no answer
});
form.elements.assignmentId.value = assignmentId;
form.action = address;
save();
isSending = true;
$("send").disabled = true;
$("send").textContent = texts.sending;
form.submit(); // so no control of the form may be called "submit"
};
const refresh = () => {
document.querySelectorAll("[data-counts]").forEach((hint) => {
const count = rules.words(controls(hint.dataset.counts)[0].value).length;
hint.textContent = told(texts.words_counted, { count, minimum: hint.dataset.minimum });
hint.classList.toggle("enough", count >= Number(hint.dataset.minimum));
});
document.querySelectorAll("[data-limits]").forEach((hint) => {
const count = rules.length(controls(hint.dataset.limits)[0].value);
hint.textContent = told(texts.characters_counted, { count, maximum: hint.dataset.maximum });
hint.classList.toggle("beyond", count > Number(hint.dataset.maximum));
});
document.querySelectorAll("[data-shown-with]").forEach((block) => {
const [name, value] = block.dataset.shownWith.split("=");
block.hidden = !controls(name).some((control) => control.value === value && control.checked);
});
document.querySelectorAll("[data-fills]").forEach((button) => {
button.dataset.label = button.dataset.label || button.textContent;
const canUndo = button.dataset.fills in setAside;
button.textContent = canUndo ? button.dataset.undo : button.dataset.label;
});
};
const changed = () => {
refresh();
lift(here());
save();
};
const fill = (button) => {
const name = button.dataset.fills;
const [control] = controls(name);
const present = control.value;
const isOwn = present.trim() !== "" && present !== button.dataset.text;
if (name in setAside) {
control.value = setAside[name];
delete setAside[name];
if (isOwn) setAside[name] = present; // typed since: the two change places
say(texts.is_back);
} else {
if (isOwn) setAside[name] = present;
control.value = button.dataset.text;
say(told(texts.now_says, { text: button.dataset.text }));
}
changed();
};
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("keydown", (event) => {
if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
});
form.addEventListener("input", changed);
document.addEventListener("keydown", (event) => chooseByKey(here(), event));
form.addEventListener("click", (event) => {
const button = event.target.closest("[data-fills]");
if (button) fill(button);
});
$("back").addEventListener("click", () => go(at - 1));
$("next").addEventListener("click", next);
$("send").addEventListener("click", submit);
window.addEventListener("pagehide", save);
document.addEventListener("visibilitychange", save);
window.addEventListener("pageshow", (event) => {
if (!event.persisted) return;
isSending = false; // the browser brought the page back after it was sent
$("send").disabled = false;
$("send").textContent = texts.submit;
});
window.addEventListener("beforeunload", (event) => {
if (!isPreview && !isSending && !drafts.isKept()) event.preventDefault();
});
if (!isPreview) restore();
if (isPreview) {
form.querySelectorAll(".step textarea, .step input, .step [data-fills], #comment")
.forEach((control) => { control.disabled = true; });
}
$("send").disabled = !isOpen;
if (isPreview) $("send").textContent = texts.accept_first;
$("notice-preview").hidden = !isPreview;
$("notice-address").hidden = isPreview || isOpen;
if (steps.length <= data.most_dots) {
document.querySelector(".dots").append(...steps.map((_, i) => {
const dot = document.createElement("span");
dot.dataset.dot = i + 1;
return dot;
}));
}
refresh();
show(at);
save();
$("notice-drafts").hidden = isPreview || drafts.isKept();
})();
const pieceworkViews = JSON.parse(document.getElementById("page-data").textContent).texts;
document.querySelectorAll("[data-viewer]").forEach((viewer) => {
const steps = [1, 1.5, 2, 3, 4, 6];
const frame = viewer.querySelector(".frame");
const stage = viewer.querySelector(".stage");
const image = viewer.querySelector("img");
const lost = viewer.querySelector(".lost");
const address = image.getAttribute("src");
let zoom = 0;
let turns = 0;
const lay = () => {
const isOnSide = turns % 2 === 1;
const [width, height] = [image.naturalWidth || 1, image.naturalHeight || 1];
const [across, down] = isOnSide ? [height, width] : [width, height];
const fit = Math.min(frame.clientWidth / across, frame.clientHeight / down);
const scale = fit * steps[zoom];
stage.style.width = `${Math.floor(across * scale)}px`;
stage.style.height = `${Math.floor(down * scale)}px`;
image.style.width = `${width * scale}px`;
image.style.height = `${height * scale}px`;
image.style.transform = `translate(-50%, -50%) rotate(${turns * 90}deg)`;
};
const tell = () => {
const size = zoom === 0 ? pieceworkViews.whole_picture
: pieceworkViews.zoomed.replace("{percent}", steps[zoom] * 100);
const turned = turns % 4 === 0 ? ""
: pieceworkViews.turned.replace("{degrees}", (turns % 4) * 90);
viewer.querySelector("[data-view-state]").textContent = size + turned;
viewer.querySelector("[data-view=out]").disabled = zoom === 0;
viewer.querySelector("[data-view=in]").disabled = zoom === steps.length - 1;
};
const zoomTo = (wanted) => {
const middle = [
(frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth,
(frame.scrollTop + frame.clientHeight / 2) / frame.scrollHeight,
];
zoom = Math.min(Math.max(wanted, 0), steps.length - 1);
lay();
frame.scrollLeft = middle[0] * frame.scrollWidth - frame.clientWidth / 2;
frame.scrollTop = middle[1] * frame.scrollHeight - frame.clientHeight / 2;
};
const acts = {
in: () => zoomTo(zoom + 1),
out: () => zoomTo(zoom - 1),
turn: () => { turns += 1; lay(); },
reset: () => { turns = 0; zoomTo(0); },
retry: () => {
lost.hidden = true;
image.removeAttribute("src");
image.src = address;
},
};
const keys = { "+": "in", "=": "in", "-": "out", r: "turn", R: "turn", 0: "reset" };
const act = (name) => {
acts[name]();
tell();
};
viewer.addEventListener("click", (event) => {
const button = event.target.closest("[data-view]");
if (button) act(button.dataset.view);
});
frame.addEventListener("keydown", (event) => {
if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
event.preventDefault();
act(keys[event.key]);
});
const loaded = () => {
lost.hidden = true;
frame.hidden = false;
lay();
};
const failed = () => {
lost.hidden = false;
frame.hidden = true;
};
image.addEventListener("load", loaded);
image.addEventListener("error", failed);
if (pieceworkLost.has(image)) failed();
new ResizeObserver(lay).observe(frame);
tell();
});
</script>
</body>
</html>
]]></HTMLContent>
<FrameHeight>0</FrameHeight>
</HTMLQuestion>',NULL,NULL,NULL);
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    invitation_id TEXT NOT NULL UNIQUE,
    worker INTEGER NOT NULL REFERENCES workers (id),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    requester INTEGER NOT NULL REFERENCES requesters (id),
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    sent_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE notification_settings (
    hit_type INTEGER PRIMARY KEY REFERENCES hit_types (id),
    destination TEXT NOT NULL,
    transport TEXT NOT NULL CHECK (transport IN ('SQS', 'SNS')),
    version TEXT NOT NULL,
    event_types TEXT NOT NULL,
    is_active INTEGER NOT NULL CHECK (is_active IN (0, 1))
) STRICT;
CREATE TABLE qualification_requests (
    id INTEGER PRIMARY KEY,
    qualification_request_id TEXT NOT NULL UNIQUE,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN ('Pending', 'Granted', 'Rejected')),
    reason TEXT,
    requested_ms INTEGER NOT NULL
, test INTEGER REFERENCES tests (id), answer TEXT) STRICT;
CREATE TABLE qualification_types (
    id INTEGER PRIMARY KEY,
    qualification_type_id TEXT NOT NULL UNIQUE,
    requester INTEGER REFERENCES requesters (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    keywords TEXT,
    status TEXT NOT NULL CHECK (status IN ('Active', 'Inactive')),
    is_requestable INTEGER NOT NULL CHECK (is_requestable IN (0, 1)),
    retry_delay_seconds INTEGER,
    auto_granted INTEGER NOT NULL CHECK (auto_granted IN (0, 1)),
    auto_granted_value INTEGER,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER
, test INTEGER REFERENCES tests (id)) STRICT;
INSERT INTO "qualification_types" VALUES(1,'2ARFPLSP75KLA8M8DH1HTEQVJT3SY6',NULL,'Masters (sandbox)','The worker is one of the masters.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(2,'2F1QJWKUDD8XADTFD2Q0G6UTO95ALH',NULL,'Masters','The worker is one of the masters.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(3,'00000000000000000040',NULL,'Worker_NumberHITsApproved','How many HITs of the worker were approved.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(4,'00000000000000000071',NULL,'Worker_Locale','Where the worker lives.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(5,'00000000000000000060',NULL,'Worker_Adult','The worker agreed to see adult content.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(6,'000000000000000000L0',NULL,'Worker_PercentAssignmentsApproved','How many per cent of the worker''s judged assignments were approved.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(7,'36IXSUBK30J30AVYERGI2OAPGNA46L',1,'piecework: not for small','Held by workers whom the requester does not ask again for this kind of HIT.',NULL,'Active',1,NULL,0,NULL,1767603600000,NULL,NULL);
CREATE TABLE qualifications (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    value INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Granted', 'Revoked')),
    granted_ms INTEGER NOT NULL,
    UNIQUE (qualification_type, worker)
) STRICT;
CREATE TABLE request_tokens (
    requester INTEGER NOT NULL REFERENCES requesters (id),
    operation TEXT NOT NULL,
    token TEXT NOT NULL,
    subject TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (requester, operation, token)
) STRICT, WITHOUT ROWID;
INSERT INTO "request_tokens" VALUES(1,'CreateHITWithHITType','1bbc4485894c422bba2de1a3fd40a8b940873be5f5422e3cf7c2312b5f7f046e','3BP9RHB2GZMTIARQOS6226DOLHAPR6',1767604183131);
INSERT INTO "request_tokens" VALUES(1,'CreateHITWithHITType','95c985e9a527e2ef2c3f74824948ab0af81a96e697536f3f479b6f4e3aba08c9','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO',1767603600000);
CREATE TABLE requesters (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "requesters" VALUES(1,'REHEARSAL','Requester',1767603600000);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    hit INTEGER NOT NULL REFERENCES hits (id),
    level TEXT NOT NULL CHECK (level IN ('Assignment', 'HIT')),
    kind TEXT NOT NULL CHECK (kind IN ('Result', 'Action')),
    action_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_type TEXT NOT NULL,
    question TEXT,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    status TEXT,
    done_ms INTEGER,
    error_code TEXT
) STRICT;
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "settings" VALUES('rehearsal','1');
INSERT INTO "settings" VALUES('seed','3');
INSERT INTO "settings" VALUES('now_ms','1767604379770');
CREATE TABLE spent_signatures (
    signature BLOB NOT NULL,
    attempt TEXT NOT NULL,
    spent_ms INTEGER NOT NULL,
    dies_ms INTEGER NOT NULL,
    PRIMARY KEY (signature, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE test_attempts (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    test INTEGER NOT NULL REFERENCES tests (id),
    status TEXT NOT NULL CHECK (status IN ('Open', 'Submitted', 'Late')),
    started_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    CHECK ((status = 'Open') = (ended_ms IS NULL))
) STRICT;
CREATE TABLE tests (
    id INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    answer_key TEXT,
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds > 0)
) STRICT;
CREATE TABLE transfers (
    id INTEGER PRIMARY KEY,
    made_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
INSERT INTO "transfers" VALUES(1,1767603600000,'deposit','REHEARSAL');
INSERT INTO "transfers" VALUES(2,1767603600000,'hold','3XZBVTS4XN7MZKURMBUK3V29V8Z6UO');
INSERT INTO "transfers" VALUES(3,1767604183131,'reward','3D8MP1Z6Y3NHL7CJN6IG8Y53B3WHQO');
INSERT INTO "transfers" VALUES(4,1767604183131,'reward','3U7A5M8OAQT3HXLGGXX9OLFVTNIG0Z');
INSERT INTO "transfers" VALUES(5,1767604183131,'hold','3BP9RHB2GZMTIARQOS6226DOLHAPR6');
CREATE TABLE worker_sessions (
    key_hash TEXT PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    invitation INTEGER REFERENCES invitations (id),
    token_hash TEXT,
    started_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    CHECK ((invitation IS NULL) <> (token_hash IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE workers (
    id INTEGER PRIMARY KEY,
    worker_id TEXT NOT NULL UNIQUE,
    handle TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    subdivision TEXT,
    is_adult INTEGER NOT NULL CHECK (is_adult IN (0, 1)),
    is_master INTEGER NOT NULL CHECK (is_master IN (0, 1)),
    approved INTEGER NOT NULL CHECK (approved >= 0),
    judged INTEGER NOT NULL CHECK (judged >= approved),
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "workers" VALUES(1,'AODZHVFUV3KBAN','diligent-001','57b47a1ac467589008d0b0ee3461d9f93336df06d21ff60ab72e76653ad9db89','US','CA',0,0,13370,13756,1767603600000);
INSERT INTO "workers" VALUES(2,'A9IUWI2QBNINMX','diligent-002','b9abf7b31cf5c193d84bac086737f2099c3fd1362467d4f4abc46fd537179235','US','MI',0,0,1263,1284,1767603600000);
INSERT INTO "workers" VALUES(3,'AHQN1G3WJ5X2IS','diligent-003','aafa0b610dc7a2ced355246537ec4c5d629185dd7939cd3535be1d71ef8e4e46','US','MI',0,0,9024,9106,1767603600000);
INSERT INTO "workers" VALUES(4,'AECRCX34J1PBKN','diligent-004','bcbf070bf9a0118f7b88a03f401c1bd27863f0931b6bfd27cc9ad3a44ee316fb','US','CA',0,0,3165,3260,1767603600000);
INSERT INTO "workers" VALUES(5,'AVNH429FD0RN3Y','diligent-005','d2b1176d1e92a6ac63de224780e1301a5836490ec637a4a4db4184800de2dfc1','US','CA',0,0,9510,9724,1767603600000);
INSERT INTO "workers" VALUES(6,'APPSSGU8487XXP','diligent-006','d08a1bc7623ece97636957836f8f12ae334e186afc4652d799a3b47e7ff7c569','US','TX',0,0,16251,16702,1767603600000);
INSERT INTO "workers" VALUES(7,'APNLBJ7QSB6BBO','diligent-007','67957d1f44d69ca7d507310c671a8c16949554af5b650652f836e5a05bbef2b5','GB',NULL,0,0,5504,5651,1767603600000);
INSERT INTO "workers" VALUES(8,'A4V9T1Z1J3Z2PO','diligent-008','cd1f1e367dadcd09cc0cd2936c691844137de955e5146cf6ce44541ae73e6da3','US','WA',0,0,121,122,1767603600000);
INSERT INTO "workers" VALUES(9,'AEAQGHZL5H4XES','diligent-009','10e2bb804968f98caf615a39d0ad1e9e6e7634768ac22840ef45193ec8bd45dd','US','WA',0,0,19939,20430,1767603600000);
INSERT INTO "workers" VALUES(10,'ALH4I85314YATH','diligent-010','b5f49da507e4921c6cb0aa19e4446b32763ee3b6d883f7ac303bfcdcbe60afed','US','MI',0,0,17719,17809,1767603600000);
INSERT INTO "workers" VALUES(11,'AUQR33KT4DUB0T','diligent-011','665277870a714e1ee4aa626c3b32a4b545656b4b889794bbc9387f17543573bd','US','WA',0,0,16215,16330,1767603600000);
INSERT INTO "workers" VALUES(12,'AQ52ZSO1BTAU5A','diligent-012','6d6b9d1b46d7e1bb64e767a3075c4e15d745594af67d2c7f1d24ca71d92228bb','US','CA',0,0,18133,18560,1767603600000);
INSERT INTO "workers" VALUES(13,'AJ9YBHFUMXSBEF','diligent-013','34b3736ad52a8ef9550ff178abfcebc5a2f81fcf0f6c757b6f73674eacaa5585','US','PA',0,0,13849,13989,1767603600000);
INSERT INTO "workers" VALUES(14,'AYEZF74PL9FVPT','diligent-014','e1fd654b56b54963d3dfa7894e43391420faca4199b8fb320a2923e23119f79a','US','NY',0,0,13504,13794,1767603600000);
INSERT INTO "workers" VALUES(15,'AIXL9JB2OPL4OH','diligent-015','a392ec1f4a3d32665aa190e0ed6785d35a8fbfbc9ee1325d79682430131353c1','GB',NULL,0,0,4129,4146,1767603600000);
INSERT INTO "workers" VALUES(16,'AIKE3XGI084VKZ','diligent-016','cb40a3e87808b553cd0a6d79c907c3549d0e8107fcc2f0dc08eba7760d7f691b','US','NY',0,0,194,195,1767603600000);
INSERT INTO "workers" VALUES(17,'A3HX1EHYIUPQUI','diligent-017','e5d1701c83bbd608de1fd178da8371932d98acd603352583565b13e600850150','US','NY',0,0,17571,17839,1767603600000);
INSERT INTO "workers" VALUES(18,'AE97G7J24B1TAH','diligent-018','46ad1c0ce6dad182bf1bbf2a4509c195cd56954c6f7bd136bdc7420ae52fa51f','US','WA',0,0,10695,10959,1767603600000);
INSERT INTO "workers" VALUES(19,'AJMBY72EFA2ZCK','diligent-019','dcab9f0d1b75f2ec4a861016abbea7dc77665366e85b212b8eb62250a0bb6297','US','OH',0,0,4880,5011,1767603600000);
INSERT INTO "workers" VALUES(20,'ADUQ3KC6N0302G','diligent-020','7f440a988a873f5f01d89dde71ce5c01788e25cdb198ba2f6912f2ed406402f8','US','MI',0,0,9764,9823,1767603600000);
INSERT INTO "workers" VALUES(21,'ALEBB3CNEJM0RQ','diligent-021','47e45b2334136e85160e1c8437443deb90723332027e2695936cefefbbcd58d4','US','FL',0,0,7771,7858,1767603600000);
INSERT INTO "workers" VALUES(22,'A7E6XWU70EALDG','hurried-001','07152f44b079db1c1a2774dba71684eb43263112d0f1813caf170a8ba6345068','US','MI',0,0,8028,8118,1767603600000);
INSERT INTO "workers" VALUES(23,'A4L29D4H2YYZST','hurried-002','3db4a6f63decb0ca581e5f9679b7e77c7cf3d0a82f63790266455af97c677285','US','FL',0,0,7222,7310,1767603600000);
INSERT INTO "workers" VALUES(24,'A46ZVE2A5O12RZ','hurried-003','4d404a89ff67ab8de88e1b31e314f4d6c7a45f768e7e06c01c1276899645bc92','US','FL',0,0,5297,5362,1767603600000);
INSERT INTO "workers" VALUES(25,'AYUHL2JGHEQHZ9','hurried-004','89d5c5c745f73b9b169d9918e631f4c583a15e6bbc6d6f5d65efb5da1f9e77e0','US','WA',0,0,1563,1604,1767603600000);
INSERT INTO "workers" VALUES(26,'AXDOFFUP2QO04G','hurried-005','26eb40ce9773c650a2f9205cd3380afb1f42569a796875ff89b90726caa86a02','US','PA',0,0,9179,9338,1767603600000);
INSERT INTO "workers" VALUES(27,'AA1XH9SYPRQI2N','hurried-006','d53ed76874278c4aeebb200e67bbdc13b404d8bc22a9445aa7b1d7387d578889','US','OH',0,0,12203,12314,1767603600000);
INSERT INTO "workers" VALUES(28,'AMOWHGVPT523IQ','hurried-007','13d97d12cd971504586ac76aecf9c1d4f26d8a720c345ab856c56d5456788f10','CA',NULL,0,0,13321,13733,1767603600000);
INSERT INTO "workers" VALUES(29,'AB01913KE9Z55C','slow-001','e68d30c566c1bd01b6d839a816675cc8f1409634f0ab755db6b2c2e7c3c50c49','US','TX',0,0,8972,9146,1767603600000);
INSERT INTO "workers" VALUES(30,'AO077O6RNYSE6U','slow-002','69cc0189d33227e13690b75e9e7ffe07e645cd9071bbccb5ee1f7cdc8474369e','US','NY',0,0,4024,4065,1767603600000);
INSERT INTO "workers" VALUES(31,'ADMVLJ4F01DGVU','slow-003','5bfe81a9c1296691a02b4916496b3c93543944beb93b520aacdcc16f077bc894','US','NY',0,0,3523,3599,1767603600000);
INSERT INTO "workers" VALUES(32,'AJNRWQK6I2PH5Y','slow-004','b65f11ad643611346c0a0175307241056e030009f8c45be43d13f2ca0a72da0c','US','CA',0,0,12272,12652,1767603600000);
INSERT INTO "workers" VALUES(33,'A00ZY2G65VMHXJ','slow-005','357f3492ce7854176ecd1c6e23d36d6209b9cc26a9ccebc12cdfc6372b5ae30d','US','CA',0,0,20416,20437,1767603600000);
INSERT INTO "workers" VALUES(34,'A623W6AD31JJCO','careless_speller-001','6086f4f3811aa58c80d6e7f599f0a9fc06e153efa8c70c25a795183c724ce864','US','MI',0,0,4884,4909,1767603600000);
INSERT INTO "workers" VALUES(35,'AMFCF9HCEENRAZ','careless_speller-002','68664f024ad4a69938934d46443ff849a5a73e9921c0a13e261687d359c76b1e','US','PA',0,0,3073,3152,1767603600000);
INSERT INTO "workers" VALUES(36,'AEGRATCDG0TF0C','careless_speller-003','bbc0894d29ad529e4d6d45b0c653aa68a7c26396cc1e2676bb9148ea6a5878ba','US','TX',0,0,9567,9587,1767603600000);
INSERT INTO "workers" VALUES(37,'A6HBLOCS249OSW','careless_speller-004','7efe1e4da4f7f48591d19ad6ac6a0d3ceb7a61067c903ca1f594b6375b622f28','US','NY',0,0,13945,14377,1767603600000);
INSERT INTO "workers" VALUES(38,'A4C258WOLDQ44R','careless_speller-005','007b978ccceb62e97537858b3601c2f8aad3d0e9291c8d665bfc362e145087c3','US','FL',0,0,13582,13706,1767603600000);
INSERT INTO "workers" VALUES(39,'AMV6A9UK7V6PF8','shouting-001','e82026a6e218c7a90f61f2c5c617e98973bdca74fb271c1047b983df5351f799','US','FL',0,0,10301,10533,1767603600000);
INSERT INTO "workers" VALUES(40,'AU53H386E7649U','shouting-002','f211b9615cbe2e24d0de0c4eade2977a99c540fdee620a5a0d0cc8c806399ede','US','WA',0,0,14195,14253,1767603600000);
INSERT INTO "workers" VALUES(41,'AZYXE8RTLMSGZD','canned_abuser-001','75025248a6038072fa0448d99bdc4108bbd97d53c2f2d1d4b8f844dfed437e7d','US','CA',0,0,1972,1986,1767603600000);
INSERT INTO "workers" VALUES(42,'AM8M12Y8YUF7IW','canned_abuser-002','4416f220cc5c81e973599e2fd6bd1372bfd985752e2589ec93d2b99007b7f876','US','NY',0,0,5321,5327,1767603600000);
INSERT INTO "workers" VALUES(43,'A5P2M5DQPWY2LE','lone_unreadable-001','d8a2514980b3a3ea7238b8b28701c7d0961074612d07a5a5f071f5ef305b5bb7','US','NY',0,0,6472,6584,1767603600000);
INSERT INTO "workers" VALUES(44,'AGF79K5YSOZH63','lone_unreadable-002','3d5fe762b7007e0aca7780ba7aa66635ec174960a255093a31ef26a984b2697d','US','OH',0,0,16017,16196,1767603600000);
INSERT INTO "workers" VALUES(45,'AZS27LDAVB0VN6','quality_writer-001','d4ec6a0894cbc7815b3fa7abbd765d7204af97d265993cece44d79c9ac450333','US','MI',0,0,16311,16661,1767603600000);
INSERT INTO "workers" VALUES(46,'A6AC9N695CC25U','quality_writer-002','ec5988fe3878f1bac05405ab28a0b8e2e3335385267fdac3117659f280a8ce93','US','MI',0,0,15042,15241,1767603600000);
INSERT INTO "workers" VALUES(47,'AU2KBGM8L2U4L4','paster-001','c0fc4ca454554e55d91976f708a4b94ce1ddde225618b2d12b3b6d36110a48bd','US','WA',0,0,14030,14288,1767603600000);
INSERT INTO "workers" VALUES(48,'AN9E7OJY2DAM3Q','paster-002','ab67fe136b0150fb88fbd5af824852be06dfeb6df53b47ba89bba255dcc59a22','US','MI',0,0,11889,12219,1767603600000);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX qualification_type_names
    ON qualification_types (requester, name) WHERE deleted_ms IS NULL;
CREATE INDEX qualifications_by_status
    ON qualifications (qualification_type, status, id);
CREATE INDEX qualifications_by_worker ON qualifications (worker);
CREATE UNIQUE INDEX qualification_requests_pending
    ON qualification_requests (qualification_type, worker) WHERE status = 'Pending';
CREATE INDEX qualification_requests_by_worker
    ON qualification_requests (worker, qualification_type, id);
CREATE INDEX hit_types_with_work ON hit_types (id) WHERE assignable_hits > 0;
CREATE INDEX hits_alive ON hits (requester, id) WHERE status <> 'Disposed';
CREATE INDEX hits_by_status ON hits (requester, status, id);
CREATE INDEX hits_expiring ON hits (expires_ms) WHERE is_expired = 0;
CREATE INDEX hits_disposing ON hits (dispose_ms) WHERE dispose_ms IS NOT NULL;
CREATE UNIQUE INDEX one_worker_does_a_hit_once ON assignments (hit, worker)
    WHERE status IN ('Accepted', 'Submitted', 'Approved', 'Rejected');
CREATE INDEX assignments_by_worker ON assignments (worker, hit);
CREATE INDEX assignments_by_hit ON assignments (hit, submitted_ms, id);
CREATE INDEX assignments_running ON assignments (deadline_ms)
    WHERE status = 'Accepted';
CREATE INDEX assignments_undecided ON assignments (auto_approve_ms)
    WHERE status = 'Submitted';
CREATE INDEX bonuses_by_assignment ON bonuses (assignment, id);
CREATE INDEX bonuses_by_hit ON bonuses (hit, id);
CREATE INDEX bonuses_by_worker ON bonuses (worker, id);
CREATE INDEX request_tokens_by_age ON request_tokens (made_ms);
CREATE INDEX spent_signatures_by_age ON spent_signatures (dies_ms)
;
CREATE INDEX invitations_by_worker ON invitations (worker);
CREATE INDEX worker_sessions_by_worker ON worker_sessions (worker);
CREATE INDEX worker_sessions_by_age ON worker_sessions (expires_ms)
;
CREATE INDEX qualification_types_requestable ON qualification_types (id)
    WHERE deleted_ms IS NULL AND is_requestable = 1 AND status = 'Active';
CREATE UNIQUE INDEX one_attempt_at_a_time ON test_attempts (worker, qualification_type)
    WHERE status = 'Open';
CREATE INDEX test_attempts_by_worker ON test_attempts (worker, qualification_type, id);
CREATE INDEX test_attempts_running ON test_attempts (deadline_ms)
    WHERE status = 'Open';
CREATE INDEX hits_to_review ON hits (review_ms, id) WHERE review_ms IS NOT NULL;
CREATE INDEX assignments_to_review ON assignments (review_ms, id)
    WHERE review_ms IS NOT NULL;
CREATE INDEX reviews_by_hit ON reviews (hit, id);
CREATE INDEX messages_by_worker ON messages (worker, id);
CREATE INDEX events_by_requester ON events (requester, id);
CREATE INDEX deliveries_waiting ON deliveries (id) WHERE status = 'Waiting';
CREATE INDEX deliveries_by_event ON deliveries (event)
;
CREATE INDEX hits_by_type ON hits (hit_type, status, id, expires_ms);
CREATE INDEX events_by_end ON events (drop_ms);
COMMIT;
