-- AlterTable
ALTER TABLE "ledger_updates" ADD COLUMN     "isLastOfTransaction" BOOLEAN NOT NULL DEFAULT false;
-- What spent an output is in its row, and what created it in its id: the transaction, and two bytes of index.
UPDATE "ledger_updates" SET "isLastOfTransaction" = true WHERE "seq" IN (
    SELECT max(entry."seq") FROM "ledger_updates" AS entry JOIN "outputs" ON "outputs"."id" = entry."outputId"
    WHERE NOT entry."isSpent" OR "outputs"."spentBy" IS NOT NULL
    GROUP BY entry."address", entry."class", entry."milestoneIndex",
        CASE WHEN entry."isSpent" THEN "outputs"."spentBy" ELSE substr(entry."outputId", 1, 36) END);
