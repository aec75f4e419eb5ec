-- AlterTable
ALTER TABLE "ledger_updates" ADD COLUMN     "balance" BIGINT;

-- CreateTable
CREATE TABLE "unspent_outputs" (
    "outputId" BYTEA NOT NULL,
    "kind" INTEGER NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "timelockSlot" BIGINT,
    "expirationSlot" BIGINT,
    "hasReturn" BOOLEAN NOT NULL,
    "hasToken" BOOLEAN NOT NULL,

    CONSTRAINT "unspent_outputs_pkey" PRIMARY KEY ("outputId")
);

-- CreateTable
CREATE TABLE "output_terms" (
    "term" INTEGER NOT NULL,
    "value" BYTEA NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "outputId" BYTEA NOT NULL,

    CONSTRAINT "output_terms_pkey" PRIMARY KEY ("term","value","bookedSlot","outputId")
);

-- CreateTable
CREATE TABLE "due_outputs" (
    "slot" BIGINT NOT NULL,
    "outputId" BYTEA NOT NULL,

    CONSTRAINT "due_outputs_pkey" PRIMARY KEY ("slot","outputId")
);

-- CreateTable
CREATE TABLE "balances" (
    "address" BYTEA NOT NULL,
    "total" BIGINT NOT NULL,
    "available" BIGINT NOT NULL,
    "timelocked" BIGINT NOT NULL,
    "storageDeposit" BIGINT NOT NULL,
    "expiring" BIGINT NOT NULL,
    "outputs" BIGINT NOT NULL,

    CONSTRAINT "balances_pkey" PRIMARY KEY ("address")
);

-- CreateTable
CREATE TABLE "token_balances" (
    "address" BYTEA NOT NULL,
    "tokenId" BYTEA NOT NULL,
    "available" BYTEA NOT NULL,
    "timelocked" BYTEA NOT NULL,
    "expiring" BYTEA NOT NULL,

    CONSTRAINT "token_balances_pkey" PRIMARY KEY ("address","tokenId")
);

-- CreateTable
CREATE TABLE "handovers" (
    "address" BYTEA NOT NULL,
    "slot" BIGINT NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "handovers_pkey" PRIMARY KEY ("address","slot")
);

-- CreateTable
CREATE TABLE "balance_ranges" (
    "exponent" BIGINT NOT NULL,
    "addresses" BIGINT NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "balance_ranges_pkey" PRIMARY KEY ("exponent")
);

-- CreateIndex
CREATE INDEX "unspent_outputs_kind_bookedSlot_outputId_idx" ON "unspent_outputs"("kind", "bookedSlot", "outputId");

-- CreateIndex
CREATE INDEX "balances_total_address_idx" ON "balances"("total", "address");
