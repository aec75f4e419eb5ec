-- CreateTable
CREATE TABLE "block_parents" (
    "parent" BLOB NOT NULL,
    "child" BLOB NOT NULL,

    PRIMARY KEY ("parent", "child")
);
