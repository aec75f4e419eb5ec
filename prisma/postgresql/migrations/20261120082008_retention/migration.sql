-- CreateTable
CREATE TABLE "pruned_tips" (
    "address" BYTEA NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "chain" BYTEA NOT NULL,
    "milestoneIndex" BIGINT NOT NULL,
    "balance" BIGINT,

    CONSTRAINT "pruned_tips_pkey" PRIMARY KEY ("address","class")
);
