-- CreateTable
CREATE TABLE "trie_pages" (
    "id" BIGINT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "trie_pages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trie_state" (
    "id" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "built" BIGINT NOT NULL,

    CONSTRAINT "trie_state_pkey" PRIMARY KEY ("id")
);
