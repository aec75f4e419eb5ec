-- CreateTable
CREATE TABLE "imports" (
    "id" BIGINT NOT NULL,
    "lines" BIGINT NOT NULL,
    "digest" BYTEA NOT NULL,

    CONSTRAINT "imports_pkey" PRIMARY KEY ("id")
);
