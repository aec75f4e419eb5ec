-- AlterTable
-- The program adds the other two where they are not zero, and fills chain_states: src/store/fill-chains.ts.
ALTER TABLE "token_balances" ADD COLUMN     "total" BYTEA;
UPDATE "token_balances" SET "total" = "available";
ALTER TABLE "token_balances" ALTER COLUMN "total" SET NOT NULL;

-- CreateTable
CREATE TABLE "chain_states" (
    "chainId" BYTEA NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "kind" INTEGER NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "outputId" BYTEA NOT NULL,

    CONSTRAINT "chain_states_pkey" PRIMARY KEY ("chainId","ordinal")
);

-- CreateIndex
CREATE INDEX "token_balances_tokenId_total_address_idx" ON "token_balances"("tokenId", "total", "address");
