-- AlterTable
ALTER TABLE "epochs" ADD COLUMN     "candidates" TEXT;
