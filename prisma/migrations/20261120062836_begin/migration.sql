-- CreateTable
CREATE TABLE "network" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "epoch" BLOB NOT NULL,
    "parameters" BLOB NOT NULL
);

-- CreateTable
CREATE TABLE "writer" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "term" BIGINT NOT NULL,
    "holder" TEXT NOT NULL,
    "until" BIGINT NOT NULL,
    "openFrom" BIGINT NOT NULL,
    "nextInbox" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "commitments" (
    "slot" BIGINT NOT NULL PRIMARY KEY,
    "id" BLOB NOT NULL,
    "bytes" BLOB NOT NULL,
    "firstSeq" BIGINT NOT NULL,
    "lastSeq" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "blocks" (
    "id" BLOB NOT NULL PRIMARY KEY,
    "inbox" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "issuerId" BLOB NOT NULL,
    "issuingTime" BIGINT NOT NULL,
    "bytes" BLOB NOT NULL,
    "transactionId" BLOB,
    "state" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "transactions" (
    "id" BLOB NOT NULL PRIMARY KEY,
    "blockId" BLOB NOT NULL,
    "slot" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "failureReason" INTEGER
);

-- CreateTable
CREATE TABLE "outputs" (
    "id" BLOB NOT NULL PRIMARY KEY,
    "bytes" BLOB NOT NULL,
    "blockId" BLOB NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "spentSlot" BIGINT,
    "spentBy" BLOB
);

-- CreateTable
CREATE TABLE "ledger_updates" (
    "seq" BIGINT NOT NULL PRIMARY KEY,
    "address" BLOB NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "roles" INTEGER NOT NULL,
    "milestoneIndex" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,
    "isSpent" BOOLEAN NOT NULL,
    "chain" BLOB NOT NULL
);

-- CreateTable
CREATE TABLE "address_tips" (
    "address" BLOB NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "chain" BLOB NOT NULL,

    PRIMARY KEY ("address", "class")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" BLOB NOT NULL PRIMARY KEY,
    "outputId" BLOB NOT NULL,
    "credits" BIGINT NOT NULL,
    "updatedSlot" BIGINT NOT NULL,
    "expirySlot" BIGINT NOT NULL,
    "keyHashes" BLOB NOT NULL
);

-- CreateTable
CREATE TABLE "chain_records" (
    "chainId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "accessNodes" TEXT NOT NULL,
    "isActive" BOOLEAN NOT NULL,
    "setBy" TEXT NOT NULL,
    "setAt" BIGINT NOT NULL,
    "isNewest" BOOLEAN NOT NULL,

    PRIMARY KEY ("chainId", "version")
);

-- CreateIndex
CREATE UNIQUE INDEX "commitments_id_key" ON "commitments"("id");

-- CreateIndex
CREATE UNIQUE INDEX "blocks_inbox_key" ON "blocks"("inbox");

-- CreateIndex
CREATE INDEX "blocks_state_inbox_idx" ON "blocks"("state", "inbox");

-- CreateIndex
CREATE INDEX "blocks_slot_issuingTime_idx" ON "blocks"("slot", "issuingTime");

-- CreateIndex
CREATE INDEX "transactions_slot_idx" ON "transactions"("slot");

-- CreateIndex
CREATE INDEX "outputs_bookedSlot_idx" ON "outputs"("bookedSlot");

-- CreateIndex
CREATE INDEX "outputs_spentSlot_idx" ON "outputs"("spentSlot");

-- CreateIndex
CREATE INDEX "ledger_updates_address_class_seq_idx" ON "ledger_updates"("address", "class", "seq");

-- CreateIndex
CREATE INDEX "chain_records_isNewest_chainId_idx" ON "chain_records"("isNewest", "chainId");
