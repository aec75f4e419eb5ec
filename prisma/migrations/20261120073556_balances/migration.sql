-- AlterTable
ALTER TABLE "ledger_updates" ADD COLUMN "balance" BIGINT;

-- CreateTable
CREATE TABLE "unspent_outputs" (
    "outputId" BLOB NOT NULL PRIMARY KEY,
    "kind" INTEGER NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "timelockSlot" BIGINT,
    "expirationSlot" BIGINT,
    "hasReturn" BOOLEAN NOT NULL,
    "hasToken" BOOLEAN NOT NULL
);

-- CreateTable
CREATE TABLE "output_terms" (
    "term" INTEGER NOT NULL,
    "value" BLOB NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,

    PRIMARY KEY ("term", "value", "bookedSlot", "outputId")
);

-- CreateTable
CREATE TABLE "due_outputs" (
    "slot" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,

    PRIMARY KEY ("slot", "outputId")
);

-- CreateTable
CREATE TABLE "balances" (
    "address" BLOB NOT NULL PRIMARY KEY,
    "total" BIGINT NOT NULL,
    "available" BIGINT NOT NULL,
    "timelocked" BIGINT NOT NULL,
    "storageDeposit" BIGINT NOT NULL,
    "expiring" BIGINT NOT NULL,
    "outputs" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "token_balances" (
    "address" BLOB NOT NULL,
    "tokenId" BLOB NOT NULL,
    "available" BLOB NOT NULL,
    "timelocked" BLOB NOT NULL,
    "expiring" BLOB NOT NULL,

    PRIMARY KEY ("address", "tokenId")
);

-- CreateTable
CREATE TABLE "handovers" (
    "address" BLOB NOT NULL,
    "slot" BIGINT NOT NULL,
    "total" BIGINT NOT NULL,

    PRIMARY KEY ("address", "slot")
);

-- CreateTable
CREATE TABLE "balance_ranges" (
    "exponent" BIGINT NOT NULL PRIMARY KEY,
    "addresses" BIGINT NOT NULL,
    "total" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "unspent_outputs_kind_bookedSlot_outputId_idx" ON "unspent_outputs"("kind", "bookedSlot", "outputId");

-- CreateIndex
CREATE INDEX "balances_total_address_idx" ON "balances"("total", "address");
