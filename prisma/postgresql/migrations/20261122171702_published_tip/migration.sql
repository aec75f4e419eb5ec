-- CreateTable
CREATE TABLE "published_tip" (
    "id" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "commitmentId" BYTEA NOT NULL,
    "seq" BIGINT NOT NULL,
    "branch" TEXT NOT NULL,
    "prunedSeq" BIGINT NOT NULL,
    "prunedBranch" TEXT NOT NULL,
    "isApart" BOOLEAN NOT NULL DEFAULT false,
    "rewoundFrom" BIGINT,

    CONSTRAINT "published_tip_pkey" PRIMARY KEY ("id")
);

-- The log as it is.
INSERT INTO "published_tip" ("id", "slot", "commitmentId", "seq", "branch", "prunedSeq", "prunedBranch")
SELECT 1, "slot", "id", "lastSeq",
    coalesce((SELECT CASE WHEN "firstSeq" <= "end"."lastSeq" THEN '0x' || encode(substr("id", 1, 6), 'hex') END
        FROM "commitments" WHERE "lastSeq" >= "end"."lastSeq" AND "end"."lastSeq" > 0
        ORDER BY "lastSeq", "slot" LIMIT 1), '0x000000000000'),
    "end"."pruned",
    coalesce((SELECT CASE WHEN "firstSeq" <= "end"."pruned" THEN '0x' || encode(substr("id", 1, 6), 'hex') END
        FROM "commitments" WHERE "lastSeq" >= "end"."pruned" AND "end"."pruned" > 0
        ORDER BY "lastSeq", "slot" LIMIT 1), '0x000000000000')
FROM (SELECT "commitments"."slot", "commitments"."id", "lastSeq",
        coalesce((SELECT min("seq") - 1 FROM "ledger_updates"), "lastSeq") AS "pruned"
    FROM "network" CROSS JOIN "commitments" ORDER BY "slot" DESC LIMIT 1) AS "end";
