-- CreateTable
CREATE TABLE "activity" (
    "resolution" INTEGER NOT NULL,
    "bucket" BIGINT NOT NULL,
    "slots" BIGINT NOT NULL,
    "blocks" BIGINT,
    "blockBytes" BIGINT,
    "accepted" BIGINT NOT NULL,
    "failed" BIGINT,
    "updates" BIGINT NOT NULL,
    "movedHigh" BIGINT,
    "movedLow" BIGINT,
    "burnedHigh" BIGINT,
    "burnedLow" BIGINT,
    "addresses" BIGINT NOT NULL,
    "newAddresses" BIGINT NOT NULL,

    CONSTRAINT "activity_pkey" PRIMARY KEY ("resolution","bucket")
);

-- CreateTable
CREATE TABLE "output_counts" (
    "kind" BIGINT NOT NULL,
    "outputs" BIGINT NOT NULL,

    CONSTRAINT "output_counts_pkey" PRIMARY KEY ("kind")
);

-- Outputs that are booked into slots which are not committed yet are counted with the commit of their slot.
INSERT INTO "output_counts" ("kind", "outputs")
SELECT "kind", count(*) FROM "unspent_outputs"
WHERE "bookedSlot" <= (SELECT max("slot") FROM "commitments") GROUP BY "kind";
