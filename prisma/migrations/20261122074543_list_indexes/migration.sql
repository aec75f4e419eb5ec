-- By hand: a column that is added at the end need not rewrite the table, and what the new kinds distinguish is in the bytes.

-- DropIndex
DROP INDEX "blocks_slot_issuingTime_idx";

-- DropIndex
DROP INDEX "outputs_spentSlot_idx";

-- DropIndex
DROP INDEX "transactions_slot_idx";

-- AlterTable
ALTER TABLE "outputs" ADD COLUMN "kind" INTEGER NOT NULL DEFAULT 0;

-- An output begins with its type code.
UPDATE "outputs" SET "kind" = instr(x'000102030405', substr("bytes", 1, 1)) - 1;

-- Basic blocks had one kind.
UPDATE "blocks" SET "kind" = 4 WHERE "kind" = 0 AND "transactionId" IS NOT NULL;

-- Header and type of the body have 90 bytes. Three lists of parents follow, each with its length before ids of 36 bytes, and
-- then the length of the payload in four bytes. A payload that is neither transaction nor candidacy is tagged data.
UPDATE "blocks" SET "kind" = 3 WHERE "kind" = 0 AND "id" IN (
    SELECT "id" FROM (
        SELECT "id", "bytes", "at" + 1 + 36 * (instr(x'000102030405060708', substr("bytes", "at" + 1, 1)) - 1) AS "at" FROM (
            SELECT "id", "bytes", "at" + 1 + 36 * (instr(x'000102030405060708', substr("bytes", "at" + 1, 1)) - 1) AS "at" FROM (
                SELECT "id", "bytes", 91 + 36 * (instr(x'000102030405060708', substr("bytes", 90 + 1, 1)) - 1) AS "at" FROM "blocks" WHERE "kind" = 0
            ) AS "strong"
        ) AS "weak"
    ) AS "shallow"
    WHERE substr("bytes", "at" + 1, 4) <> x'00000000'
);

-- CreateIndex
CREATE INDEX "blocks_slot_issuingTime_inbox_idx" ON "blocks"("slot", "issuingTime", "inbox");

-- CreateIndex
CREATE INDEX "blocks_issuerId_kind_slot_issuingTime_inbox_idx" ON "blocks"("issuerId", "kind", "slot", "issuingTime", "inbox");

-- CreateIndex
CREATE INDEX "blocks_state_kind_slot_issuingTime_inbox_idx" ON "blocks"("state", "kind", "slot", "issuingTime", "inbox");

-- CreateIndex
CREATE INDEX "blocks_transactionId_slot_issuingTime_inbox_idx" ON "blocks"("transactionId", "slot", "issuingTime", "inbox");

-- CreateIndex
CREATE INDEX "outputs_kind_bookedSlot_id_idx" ON "outputs"("kind", "bookedSlot", "id");

-- CreateIndex
CREATE INDEX "outputs_spentSlot_id_idx" ON "outputs"("spentSlot", "id");

-- CreateIndex
CREATE INDEX "transactions_slot_id_idx" ON "transactions"("slot", "id");

-- CreateIndex
CREATE INDEX "transactions_state_slot_id_idx" ON "transactions"("state", "slot", "id");
