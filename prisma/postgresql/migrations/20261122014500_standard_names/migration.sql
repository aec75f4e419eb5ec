ALTER TABLE "network" RENAME COLUMN "epoch" TO "logId";

ALTER TABLE "ledger_updates" RENAME COLUMN "chain" TO "historyHash";

ALTER TABLE "pruned_tips" RENAME COLUMN "chain" TO "historyHash";

ALTER TABLE "output_terms" RENAME COLUMN "term" TO "kind";

ALTER TABLE "output_terms" RENAME TO "index_keys";

ALTER TABLE "handovers" RENAME TO "expiration_transfers";

ALTER TABLE "index_keys" RENAME CONSTRAINT "output_terms_pkey" TO "index_keys_pkey";

ALTER TABLE "expiration_transfers" RENAME CONSTRAINT "handovers_pkey" TO "expiration_transfers_pkey";
