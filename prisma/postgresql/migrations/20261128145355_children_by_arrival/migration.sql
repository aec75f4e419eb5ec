-- RedefineTable
CREATE TABLE "new_block_parents" (
    "parent" BYTEA NOT NULL,
    "inbox" BIGINT NOT NULL
);
INSERT INTO "new_block_parents" ("parent", "inbox")
    SELECT "parent", "blocks"."inbox"
    FROM "block_parents" JOIN "blocks" ON "blocks"."id" = "block_parents"."child"
    ORDER BY "parent", "blocks"."inbox";
DROP TABLE "block_parents";
ALTER TABLE "new_block_parents" RENAME TO "block_parents";
ALTER TABLE "block_parents" ADD CONSTRAINT "block_parents_pkey" PRIMARY KEY ("parent", "inbox");
