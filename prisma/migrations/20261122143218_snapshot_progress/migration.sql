-- CreateTable
CREATE TABLE "snapshot_progress" (
    "id" BIGINT NOT NULL PRIMARY KEY,
    "head" TEXT NOT NULL,
    "position" TEXT NOT NULL
);
