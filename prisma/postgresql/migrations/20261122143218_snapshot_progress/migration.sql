-- CreateTable
CREATE TABLE "snapshot_progress" (
    "id" BIGINT NOT NULL,
    "head" TEXT NOT NULL,
    "position" TEXT NOT NULL,

    CONSTRAINT "snapshot_progress_pkey" PRIMARY KEY ("id")
);
