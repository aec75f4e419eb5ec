-- AlterTable
ALTER TABLE "chain_records" ADD COLUMN     "change" BIGINT;
UPDATE "chain_records" SET "change" = "places"."change" FROM (
    SELECT "chainId", "version", row_number() OVER (ORDER BY "setAt", "chainId", "version") AS "change" FROM "chain_records"
) AS "places" WHERE "chain_records"."chainId" = "places"."chainId" AND "chain_records"."version" = "places"."version";
ALTER TABLE "chain_records" ALTER COLUMN "change" SET NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "chain_records_change_key" ON "chain_records"("change");
