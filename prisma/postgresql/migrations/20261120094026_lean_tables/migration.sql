-- DropTable
DROP TABLE "address_tips";
