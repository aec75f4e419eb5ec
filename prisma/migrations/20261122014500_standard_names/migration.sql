ALTER TABLE "network" RENAME COLUMN "epoch" TO "logId";

ALTER TABLE "ledger_updates" RENAME COLUMN "chain" TO "historyHash";

ALTER TABLE "pruned_tips" RENAME COLUMN "chain" TO "historyHash";

ALTER TABLE "output_terms" RENAME COLUMN "term" TO "kind";

ALTER TABLE "output_terms" RENAME TO "index_keys";

ALTER TABLE "handovers" RENAME TO "expiration_transfers";
