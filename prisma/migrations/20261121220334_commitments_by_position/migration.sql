-- CreateIndex
CREATE INDEX "commitments_lastSeq_slot_idx" ON "commitments"("lastSeq", "slot");
