-- Every unspent output is found by its holder under one kind of index key (0). Before, 0 was the owner of each, also of those that
-- expire, whose holder was 10. The chains of an owner (14) become those of a holder.

-- NFTs that expire
DELETE FROM "index_keys" WHERE "kind" = 14 AND "outputId" IN (SELECT "outputId" FROM "unspent_outputs" WHERE "expirationSlot" IS NOT NULL);
INSERT INTO "index_keys" ("kind", "value", "bookedSlot", "outputId")
    SELECT 14, '\x04'::bytea || "index_keys"."value", "index_keys"."bookedSlot", "index_keys"."outputId"
    FROM "index_keys" JOIN "unspent_outputs" ON "unspent_outputs"."outputId" = "index_keys"."outputId"
    WHERE "index_keys"."kind" = 10 AND "unspent_outputs"."kind" = 4;

-- The owners of what expires, and their holders, by way of a number that is not in use
UPDATE "index_keys" SET "kind" = 15 WHERE "kind" = 10;
UPDATE "index_keys" SET "kind" = 10 WHERE "kind" = 0 AND "outputId" IN (SELECT "outputId" FROM "unspent_outputs" WHERE "expirationSlot" IS NOT NULL);
UPDATE "index_keys" SET "kind" = 0 WHERE "kind" = 15;

-- State controllers hold their anchors
INSERT INTO "index_keys" ("kind", "value", "bookedSlot", "outputId")
    SELECT 0, "value", "bookedSlot", "outputId" FROM "index_keys" WHERE "kind" = 1;
