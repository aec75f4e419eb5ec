-- CreateTable
CREATE TABLE "imports" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "lines" BIGINT NOT NULL,
    "digest" BLOB NOT NULL
);
