-- CreateTable
CREATE TABLE "block_parents" (
    "parent" BYTEA NOT NULL,
    "child" BYTEA NOT NULL,

    CONSTRAINT "block_parents_pkey" PRIMARY KEY ("parent","child")
);
