const expiring = '(SELECT "outputId" FROM unspent_outputs WHERE "expirationSlot" IS NOT NULL)'

/** Statements that undo the migration `holders`, since which one kind of index key finds every output by its holder. */
export const undoHolders = `
  DELETE FROM index_keys WHERE kind = 0
    AND "outputId" IN (SELECT "outputId" FROM unspent_outputs WHERE kind = 2);
  DELETE FROM index_keys WHERE kind = 14 AND "outputId" IN ${expiring};
  UPDATE index_keys SET kind = 15 WHERE kind = 10;
  UPDATE index_keys SET kind = 10 WHERE kind = 0 AND "outputId" IN ${expiring};
  UPDATE index_keys SET kind = 0 WHERE kind = 15;
  -- The migration deletes these rows, whatever they contain.
  INSERT INTO index_keys SELECT 14, value, "bookedSlot", "outputId" FROM index_keys
    WHERE kind = 0 AND "outputId" IN (
      SELECT "outputId" FROM unspent_outputs WHERE "expirationSlot" IS NOT NULL AND kind = 4);
  DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_holders';`
