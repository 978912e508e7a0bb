const slot = "signalbox.management_key";

/**
 * The management key lives in this tab only: it is gone when the tab closes
 * and is never written to disk by us.
 */
export const session = {
  read: (): string => sessionStorage.getItem(slot) ?? "",
  write: (key: string): void => sessionStorage.setItem(slot, key),
  clear: (): void => sessionStorage.removeItem(slot),
};
