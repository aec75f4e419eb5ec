-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_chain_records" (
    "chainId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "accessNodes" TEXT NOT NULL,
    "isActive" BOOLEAN NOT NULL,
    "setBy" TEXT NOT NULL,
    "setAt" BIGINT NOT NULL,
    "isNewest" BOOLEAN NOT NULL,
    "change" BIGINT NOT NULL,

    PRIMARY KEY ("chainId", "version")
);
INSERT INTO "new_chain_records" ("accessNodes", "chainId", "isActive", "isNewest", "setAt", "setBy", "version", "change") SELECT "accessNodes", "chainId", "isActive", "isNewest", "setAt", "setBy", "version", row_number() OVER (ORDER BY "setAt", "chainId", "version") FROM "chain_records";
DROP TABLE "chain_records";
ALTER TABLE "new_chain_records" RENAME TO "chain_records";
CREATE UNIQUE INDEX "chain_records_change_key" ON "chain_records"("change");
CREATE INDEX "chain_records_isNewest_chainId_idx" ON "chain_records"("isNewest", "chainId");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
