-- AlterTable
ALTER TABLE "blocks" ADD COLUMN     "kind" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "workScore" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "allotments" TEXT;

-- DropTable
DROP TABLE "accounts";

-- CreateTable
CREATE TABLE "account_versions" (
    "id" BYTEA NOT NULL,
    "slot" BIGINT NOT NULL,
    "entry" BYTEA,

    CONSTRAINT "account_versions_pkey" PRIMARY KEY ("id","slot")
);

-- CreateTable
CREATE TABLE "epochs" (
    "epoch" BIGINT NOT NULL,
    "committee" TEXT NOT NULL,
    "rewards" TEXT,

    CONSTRAINT "epochs_pkey" PRIMARY KEY ("epoch")
);

-- CreateIndex
CREATE INDEX "account_versions_slot_idx" ON "account_versions"("slot");
