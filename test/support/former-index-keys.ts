const expiring = '(SELECT "outputId" FROM unspent_outputs WHERE "expirationSlot" IS NOT NULL)'

/** Takes a database back to before the migration by which every output is found by its holder under one kind of index key. */
export const toBeforeHolders = `
  DELETE FROM index_keys WHERE kind = 0
    AND "outputId" IN (SELECT "outputId" FROM unspent_outputs WHERE kind = 2);
  DELETE FROM index_keys WHERE kind = 14 AND "outputId" IN ${expiring};
  UPDATE index_keys SET kind = 15 WHERE kind = 10;
  UPDATE index_keys SET kind = 10 WHERE kind = 0 AND "outputId" IN ${expiring};
  UPDATE index_keys SET kind = 0 WHERE kind = 15;
  -- The migration takes them away whatever they are.
  INSERT INTO index_keys SELECT 14, value, "bookedSlot", "outputId" FROM index_keys
    WHERE kind = 0 AND "outputId" IN (
      SELECT "outputId" FROM unspent_outputs WHERE "expirationSlot" IS NOT NULL AND kind = 4);
  DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_holders';`
