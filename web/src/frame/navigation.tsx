import { Link } from 'wouter';
import { useAddress } from '../address.ts';
import { PAGES } from '../pages.ts';
import { NavigationCount } from './navigation-count.tsx';
import { NavigationFoot } from './navigation-foot.tsx';

export function Navigation() {
  const { path, to } = useAddress();
  return (
    <div className="nav-column">
      <nav className="nav" aria-label="Pages">
        <div className="brand">Bursar</div>
        <ul>
          {PAGES.map(({ name, letter, paths: [first = '/'] }) => (
            <li key={name}>
              <Link href={to(first)} aria-current={path === first || path.startsWith(`${first}/`) ? 'page' : undefined}>
                {name}
                <NavigationCount page={name} />
                <kbd>g {letter}</kbd>
              </Link>
            </li>
          ))}
        </ul>
        <NavigationFoot />
      </nav>
    </div>
  );
}
