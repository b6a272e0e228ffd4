import { useEffect, useState } from 'react';

export interface Settings {
  readonly theme: string;
  readonly density: string;
  readonly setTheme: (theme: string) => void;
  readonly setDensity: (density: string) => void;
}

function useStored(name: string, fallback: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(`bursar.${name}`) ?? fallback);
  useEffect(() => {
    const root = document.documentElement;
    if (value === fallback) root.removeAttribute(`data-${name}`);
    else root.setAttribute(`data-${name}`, value);
    localStorage.setItem(`bursar.${name}`, value);
  }, [name, value, fallback]);
  return [value, setValue];
}

/** Theme and density, kept in the browser and nowhere else. */
export function useSettings(): Settings {
  const [theme, setTheme] = useStored('theme', 'system');
  const [density, setDensity] = useStored('density', 'compact');
  return { theme, density, setTheme, setDensity };
}
