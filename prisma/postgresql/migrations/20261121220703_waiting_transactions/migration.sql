-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "carriers" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "waiting_carriers" (
    "inbox" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "missing" INTEGER NOT NULL,

    CONSTRAINT "waiting_carriers_pkey" PRIMARY KEY ("inbox")
);

-- CreateTable
CREATE TABLE "awaited_transactions" (
    "transactionId" BYTEA NOT NULL,
    "inbox" BIGINT NOT NULL,

    CONSTRAINT "awaited_transactions_pkey" PRIMARY KEY ("transactionId","inbox")
);

-- CreateIndex
CREATE INDEX "waiting_carriers_missing_inbox_idx" ON "waiting_carriers"("missing", "inbox");

-- CreateIndex
CREATE INDEX "waiting_carriers_slot_idx" ON "waiting_carriers"("slot");

-- CreateIndex
CREATE INDEX "awaited_transactions_inbox_idx" ON "awaited_transactions"("inbox");
