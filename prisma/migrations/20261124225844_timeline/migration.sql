-- AlterTable
ALTER TABLE "writer" ADD COLUMN "timeline" BIGINT;
