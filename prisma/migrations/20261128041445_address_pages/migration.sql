-- DropIndex
DROP INDEX "ledger_updates_address_class_seq_idx";

-- CreateIndex
CREATE INDEX "ledger_updates_address_class_seq_idx" ON "ledger_updates"("address", "class", "seq", "ordinal", "roles", "milestoneIndex", "outputId", "isSpent", "historyHash", "balance", "isLastOfTransaction");
