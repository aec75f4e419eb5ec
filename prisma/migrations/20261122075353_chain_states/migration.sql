-- CreateTable
CREATE TABLE "chain_states" (
    "chainId" BLOB NOT NULL,
    "ordinal" BIGINT NOT NULL,
    "kind" INTEGER NOT NULL,
    "bookedSlot" BIGINT NOT NULL,
    "outputId" BLOB NOT NULL,

    PRIMARY KEY ("chainId", "ordinal")
) WITHOUT ROWID;

-- RedefineTables
CREATE TABLE "new_token_balances" (
    "address" BLOB NOT NULL,
    "tokenId" BLOB NOT NULL,
    "available" BLOB NOT NULL,
    "timelocked" BLOB NOT NULL,
    "expiring" BLOB NOT NULL,
    "total" BLOB NOT NULL,

    PRIMARY KEY ("address", "tokenId")
) WITHOUT ROWID;
-- The program adds the other two where they are not zero, and fills chain_states: src/store/fill-chains.ts.
INSERT INTO "new_token_balances" ("address", "available", "expiring", "timelocked", "tokenId", "total") SELECT "address", "available", "expiring", "timelocked", "tokenId", "available" FROM "token_balances";
DROP TABLE "token_balances";
ALTER TABLE "new_token_balances" RENAME TO "token_balances";
CREATE INDEX "token_balances_tokenId_total_address_idx" ON "token_balances"("tokenId", "total", "address");
