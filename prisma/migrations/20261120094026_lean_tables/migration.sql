-- By hand, but for the first table: SQLite keeps a table whose key is not of the type INTEGER twice, as rows and as an
-- index of the key. `WITHOUT ROWID` keeps these as the index alone: half the pages of a slot to write. Not so the log and
-- the outputs: their rows are long, and an index of long rows is so deep that finding one takes longer.

-- DropTable
DROP TABLE "address_tips";

-- RedefineTable
CREATE TABLE "new_pruned_tips" (
    "address" BLOB NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "chain" BLOB NOT NULL,
    "milestoneIndex" BIGINT NOT NULL,
    "balance" BIGINT,

    PRIMARY KEY ("address", "class")
) WITHOUT ROWID;
INSERT INTO "new_pruned_tips" ("address", "class", "ordinal", "chain", "milestoneIndex", "balance")
    SELECT "address", "class", "ordinal", "chain", "milestoneIndex", "balance" FROM "pruned_tips";
DROP TABLE "pruned_tips";
ALTER TABLE "new_pruned_tips" RENAME TO "pruned_tips";

-- RedefineTable
CREATE TABLE "new_unspent_outputs" (
    "outputId" BLOB NOT NULL PRIMARY KEY,
    "kind" INTEGER NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "timelockSlot" BIGINT,
    "expirationSlot" BIGINT,
    "hasReturn" BOOLEAN NOT NULL,
    "hasToken" BOOLEAN NOT NULL
) WITHOUT ROWID;
INSERT INTO "new_unspent_outputs" ("outputId", "kind", "bookedSlot", "timelockSlot", "expirationSlot", "hasReturn", "hasToken")
    SELECT "outputId", "kind", "bookedSlot", "timelockSlot", "expirationSlot", "hasReturn", "hasToken" FROM "unspent_outputs";
DROP TABLE "unspent_outputs";
ALTER TABLE "new_unspent_outputs" RENAME TO "unspent_outputs";
CREATE INDEX "unspent_outputs_kind_bookedSlot_outputId_idx" ON "unspent_outputs"("kind", "bookedSlot", "outputId");

-- RedefineTable
CREATE TABLE "new_output_terms" (
    "term" INTEGER NOT NULL,
    "value" BLOB NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,

    PRIMARY KEY ("term", "value", "bookedSlot", "outputId")
) WITHOUT ROWID;
INSERT INTO "new_output_terms" ("term", "value", "bookedSlot", "outputId")
    SELECT "term", "value", "bookedSlot", "outputId" FROM "output_terms";
DROP TABLE "output_terms";
ALTER TABLE "new_output_terms" RENAME TO "output_terms";

-- RedefineTable
CREATE TABLE "new_due_outputs" (
    "slot" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,

    PRIMARY KEY ("slot", "outputId")
) WITHOUT ROWID;
INSERT INTO "new_due_outputs" ("slot", "outputId")
    SELECT "slot", "outputId" FROM "due_outputs";
DROP TABLE "due_outputs";
ALTER TABLE "new_due_outputs" RENAME TO "due_outputs";

-- RedefineTable
CREATE TABLE "new_balances" (
    "address" BLOB NOT NULL PRIMARY KEY,
    "total" BIGINT NOT NULL,
    "available" BIGINT NOT NULL,
    "timelocked" BIGINT NOT NULL,
    "storageDeposit" BIGINT NOT NULL,
    "expiring" BIGINT NOT NULL,
    "outputs" BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO "new_balances" ("address", "total", "available", "timelocked", "storageDeposit", "expiring", "outputs")
    SELECT "address", "total", "available", "timelocked", "storageDeposit", "expiring", "outputs" FROM "balances";
DROP TABLE "balances";
ALTER TABLE "new_balances" RENAME TO "balances";
CREATE INDEX "balances_total_address_idx" ON "balances"("total", "address");

-- RedefineTable
CREATE TABLE "new_token_balances" (
    "address" BLOB NOT NULL,
    "tokenId" BLOB NOT NULL,
    "available" BLOB NOT NULL,
    "timelocked" BLOB NOT NULL,
    "expiring" BLOB NOT NULL,

    PRIMARY KEY ("address", "tokenId")
) WITHOUT ROWID;
INSERT INTO "new_token_balances" ("address", "tokenId", "available", "timelocked", "expiring")
    SELECT "address", "tokenId", "available", "timelocked", "expiring" FROM "token_balances";
DROP TABLE "token_balances";
ALTER TABLE "new_token_balances" RENAME TO "token_balances";

-- RedefineTable
CREATE TABLE "new_handovers" (
    "address" BLOB NOT NULL,
    "slot" BIGINT NOT NULL,
    "total" BIGINT NOT NULL,

    PRIMARY KEY ("address", "slot")
) WITHOUT ROWID;
INSERT INTO "new_handovers" ("address", "slot", "total")
    SELECT "address", "slot", "total" FROM "handovers";
DROP TABLE "handovers";
ALTER TABLE "new_handovers" RENAME TO "handovers";

-- RedefineTable
CREATE TABLE "new_block_parents" (
    "parent" BLOB NOT NULL,
    "child" BLOB NOT NULL,

    PRIMARY KEY ("parent", "child")
) WITHOUT ROWID;
INSERT INTO "new_block_parents" ("parent", "child")
    SELECT "parent", "child" FROM "block_parents";
DROP TABLE "block_parents";
ALTER TABLE "new_block_parents" RENAME TO "block_parents";
