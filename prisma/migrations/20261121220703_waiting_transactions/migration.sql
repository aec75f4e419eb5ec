-- By hand: a column that is added at the end need not rewrite the table, and `WITHOUT ROWID` keeps a table of short rows
-- as its key alone.

-- AlterTable
ALTER TABLE "transactions" ADD COLUMN "carriers" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "waiting_carriers" (
    "inbox" BIGINT NOT NULL PRIMARY KEY,
    "slot" BIGINT NOT NULL,
    "missing" INTEGER NOT NULL
);

-- CreateTable
CREATE TABLE "awaited_transactions" (
    "transactionId" BLOB NOT NULL,
    "inbox" BIGINT NOT NULL,

    PRIMARY KEY ("transactionId", "inbox")
) WITHOUT ROWID;

-- CreateIndex
CREATE INDEX "waiting_carriers_missing_inbox_idx" ON "waiting_carriers"("missing", "inbox");

-- CreateIndex
CREATE INDEX "waiting_carriers_slot_idx" ON "waiting_carriers"("slot");

-- CreateIndex
CREATE INDEX "awaited_transactions_inbox_idx" ON "awaited_transactions"("inbox");
