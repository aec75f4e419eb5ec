-- CreateTable
CREATE TABLE "pruned_tips" (
    "address" BLOB NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "chain" BLOB NOT NULL,
    "milestoneIndex" BIGINT NOT NULL,
    "balance" BIGINT,

    PRIMARY KEY ("address", "class")
);
