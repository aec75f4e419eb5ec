import { mostSnapshotMs } from '../../store/database.ts'

/** How long a query may read as of its moment, in milliseconds. */
export const mostQueryMs = mostSnapshotMs
