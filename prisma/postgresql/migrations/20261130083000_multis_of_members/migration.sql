-- The program adds the index keys (16) of members with their multi addresses: src/store/write/fill-multis.ts.
SELECT 1;
