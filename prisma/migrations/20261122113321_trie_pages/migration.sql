-- CreateTable
CREATE TABLE "trie_pages" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "bytes" BLOB NOT NULL
);

-- CreateTable
CREATE TABLE "trie_state" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "slot" BIGINT NOT NULL,
    "built" BIGINT NOT NULL
);
