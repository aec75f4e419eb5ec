-- CreateTable
CREATE TABLE "network" (
    "id" BIGINT NOT NULL,
    "epoch" BYTEA NOT NULL,
    "parameters" BYTEA NOT NULL,

    CONSTRAINT "network_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "writer" (
    "id" BIGINT NOT NULL,
    "term" BIGINT NOT NULL,
    "holder" TEXT NOT NULL,
    "until" BIGINT NOT NULL,
    "openFrom" BIGINT NOT NULL,
    "nextInbox" BIGINT NOT NULL,

    CONSTRAINT "writer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "commitments" (
    "slot" BIGINT NOT NULL,
    "id" BYTEA NOT NULL,
    "bytes" BYTEA NOT NULL,
    "firstSeq" BIGINT NOT NULL,
    "lastSeq" BIGINT NOT NULL,

    CONSTRAINT "commitments_pkey" PRIMARY KEY ("slot")
);

-- CreateTable
CREATE TABLE "blocks" (
    "id" BYTEA NOT NULL,
    "inbox" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "issuerId" BYTEA NOT NULL,
    "issuingTime" BIGINT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "transactionId" BYTEA,
    "state" TEXT NOT NULL,

    CONSTRAINT "blocks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "transactions" (
    "id" BYTEA NOT NULL,
    "blockId" BYTEA NOT NULL,
    "slot" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "failureReason" INTEGER,

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outputs" (
    "id" BYTEA NOT NULL,
    "bytes" BYTEA NOT NULL,
    "blockId" BYTEA NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "spentSlot" BIGINT,
    "spentBy" BYTEA,

    CONSTRAINT "outputs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_updates" (
    "seq" BIGINT NOT NULL,
    "address" BYTEA NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "roles" INTEGER NOT NULL,
    "milestoneIndex" BIGINT NOT NULL,
    "outputId" BYTEA NOT NULL,
    "isSpent" BOOLEAN NOT NULL,
    "chain" BYTEA NOT NULL,

    CONSTRAINT "ledger_updates_pkey" PRIMARY KEY ("seq")
);

-- CreateTable
CREATE TABLE "address_tips" (
    "address" BYTEA NOT NULL,
    "class" INTEGER NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "chain" BYTEA NOT NULL,

    CONSTRAINT "address_tips_pkey" PRIMARY KEY ("address","class")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" BYTEA NOT NULL,
    "outputId" BYTEA NOT NULL,
    "credits" BIGINT NOT NULL,
    "updatedSlot" BIGINT NOT NULL,
    "expirySlot" BIGINT NOT NULL,
    "keyHashes" BYTEA NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chain_records" (
    -- By bytes, as SQLite sorts, whatever the language of the database: pages of chains begin behind a chain id.
    "chainId" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL,
    "accessNodes" TEXT NOT NULL,
    "isActive" BOOLEAN NOT NULL,
    "setBy" TEXT NOT NULL,
    "setAt" BIGINT NOT NULL,
    "isNewest" BOOLEAN NOT NULL,

    CONSTRAINT "chain_records_pkey" PRIMARY KEY ("chainId","version")
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
