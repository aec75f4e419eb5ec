-- AlterTable
ALTER TABLE "transactions" ADD COLUMN "allotments" TEXT;

-- DropTable
PRAGMA foreign_keys=off;
DROP TABLE "accounts";
PRAGMA foreign_keys=on;

-- CreateTable
CREATE TABLE "account_versions" (
    "id" BLOB NOT NULL,
    "slot" BIGINT NOT NULL,
    "entry" BLOB,

    PRIMARY KEY ("id", "slot")
);

-- CreateTable
CREATE TABLE "epochs" (
    "epoch" BIGINT NOT NULL PRIMARY KEY,
    "committee" TEXT NOT NULL,
    "rewards" TEXT
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_blocks" (
    "id" BLOB NOT NULL PRIMARY KEY,
    "inbox" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "issuerId" BLOB NOT NULL,
    "issuingTime" BIGINT NOT NULL,
    "bytes" BLOB NOT NULL,
    "transactionId" BLOB,
    "state" TEXT NOT NULL,
    "kind" INTEGER NOT NULL DEFAULT 0,
    "workScore" BIGINT NOT NULL DEFAULT 0
);
INSERT INTO "new_blocks" ("bytes", "id", "inbox", "issuerId", "issuingTime", "slot", "state", "transactionId") SELECT "bytes", "id", "inbox", "issuerId", "issuingTime", "slot", "state", "transactionId" FROM "blocks";
DROP TABLE "blocks";
ALTER TABLE "new_blocks" RENAME TO "blocks";
CREATE UNIQUE INDEX "blocks_inbox_key" ON "blocks"("inbox");
CREATE INDEX "blocks_state_inbox_idx" ON "blocks"("state", "inbox");
CREATE INDEX "blocks_slot_issuingTime_idx" ON "blocks"("slot", "issuingTime");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE INDEX "account_versions_slot_idx" ON "account_versions"("slot");
